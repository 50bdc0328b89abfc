package qp

// doLocal executes a request that stays here.
func (q *QP) doLocal(s *request) Status {
	if s.Op == BindWindow {
		b := &s.Bind
		err := q.cfg.Memory.Bind(q.cfg.PD, q.cfg.Number, b.Window, b.NewRKey, b.Region, b.Addr, b.Length, b.Access)
		if err != nil {
			return WindowBindError
		}
		return Success
	}
	if q.cfg.Memory.InvalidateLocal(q.cfg.PD, s.Invalidate) != nil {
		return LocalOperationError
	}
	return Success
}
