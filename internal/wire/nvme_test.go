package wire

import "testing"

// The command of conformance case 38.
const nvmeReadCommand = "0240100001000000 0000000000000000 0000000000000000 0000563412" + "7f0000 001000 01cdab00 40" +
	"0010000000000000 0700 000000000000000000000000 0000"

func TestNVMeReadCommandOfCase38(t *testing.T) {
	checkFields(t, &nvmeCommandSpec, nvmeReadCommand, map[string]uint64{
		"nvme.cmd.opc": 2, "nvme.cmd.psdt": 1, "nvme.cmd.fuse_op": 0, "nvme.cmd.cid": 0x10, "nvme.cmd.nsid": 1, "nvme.cmd.mptr": 0,
		"nvme.cmd.sgl1.addr": 0x7f1234560000, "nvme.cmd.sgl1.len": 4096, "nvme.cmd.sgl1.key": 0x00abcd01,
		"nvme.cmd.sgl.type": 4, "nvme.cmd.sgl.subtype": 0, "nvme.cmd.slba": 0x1000, "nvme.cmd.nlb0": 7,
	})
	if n := len(unhex(t, nvmeReadCommand)); n != NVMeCommandLen {
		t.Errorf("the command has %d bytes", n)
	}
}

func TestNVMeFlushHasNoBlocks(t *testing.T) {
	checkFields(t, &nvmeCommandSpec, "00"+nvmeReadCommand[2:], map[string]uint64{"nvme.cmd.opc": 0, "nvme.cmd.nsid": 1},
		"nvme.cmd.slba", "nvme.cmd.nlb0")
}

// A descriptor that is not keyed has a length of 32 bits and no key.
func TestNVMeOffsetDescriptor(t *testing.T) {
	h := unhex(t, nvmeReadCommand)
	h[39] = 0x01
	for name, want := range map[string]uint64{"nvme.cmd.sgl1.len": 0x01001000, "nvme.cmd.sgl.type": 0, "nvme.cmd.sgl.subtype": 1} {
		if f := presentField(&nvmeCommandSpec, h, name); f == nil || f.Value(h) != want {
			t.Errorf("%s: %+v, want %#x", name, f, want)
		}
	}
	if presentField(&nvmeCommandSpec, h, "nvme.cmd.sgl1.key") != nil {
		t.Error("it has a key")
	}
}

// Commands that nvme-cli sent, with what tshark 4.0.17 shows of them.
func TestNVMeFieldsAsTshark(t *testing.T) {
	const (
		connect = "7f40000001000000000000000000000000000000000000000058db30789239ff000400700a00004f" +
			"000000001f00000000000000000000000000000000000000"
		propertyGet = "7f400100040000000000000000000000000000000000000000000000000000000000000000000040" +
			"010000000000000000000000000000000000000000000000"
		identify = "06401600000000000000000000000000000000000000000000304502789239ff001000710a00004f" +
			"010000000000000000000000000000000000000000000000"
	)
	checkFields(t, &nvmeFabricsSpec, connect, map[string]uint64{
		"nvme.fabrics.cmd.cid": 0, "nvme.fabrics.cmd.fctype": 1, "nvme.cmd.sgl1.addr": 0xff39927830db5800,
		"nvme.cmd.sgl1.len": 1024, "nvme.cmd.sgl1.key": 0xa70, "nvme.cmd.sgl.type": 4, "nvme.cmd.sgl.subtype": 15,
		"nvme.fabrics.cmd.connect.recfmt": 0, "nvme.fabrics.cmd.connect.qid": 0, "nvme.fabrics.cmd.connect.sqsize": 31,
		"nvme.fabrics.cmd.connect.cattr": 0, "nvme.fabrics.cmd.connect.kato": 0,
	}, "nvme.fabrics.cmd.prop_get_set.offset")
	checkFields(t, &nvmeFabricsSpec, propertyGet, map[string]uint64{
		"nvme.fabrics.cmd.cid": 1, "nvme.fabrics.cmd.fctype": 4,
		"nvme.fabrics.cmd.prop_get_set.attrib.size": 1, "nvme.fabrics.cmd.prop_get_set.offset": 0,
	}, "nvme.fabrics.cmd.connect.qid", "nvme.cmd.sgl1.addr", "nvme.cmd.sgl1.len")
	checkFields(t, &nvmeAdminSpec, identify, map[string]uint64{
		"nvme.cmd.opc": 6, "nvme.cmd.psdt": 1, "nvme.cmd.fuse_op": 0, "nvme.cmd.cid": 0x16, "nvme.cmd.nsid": 0, "nvme.cmd.mptr": 0,
		"nvme.cmd.sgl1.addr": 0xff39927802453000, "nvme.cmd.sgl1.len": 4096, "nvme.cmd.sgl1.key": 0xa71,
	}, "nvme.cmd.slba")
}

func TestNVMeCompletionFields(t *testing.T) {
	checkFields(t, &nvmeResponseSpec, "01020304 05060708 1100 2200 3300 4400", map[string]uint64{
		"nvme.cqe.dword0": 0x04030201, "nvme.cqe.dword1": 0x08070605, "nvme.cqe.sqhd": 0x11, "nvme.cqe.sqid": 0x22,
		"nvme.cqe.cid": 0x33, "nvme.cqe.status": 0x44,
	})
}

func TestPrivateDataOfAnNVMeQueueTellsWhichQueueItIs(t *testing.T) {
	service := CMIPServiceID(IPProtoTCP, portNVMe)
	for _, tc := range []struct {
		private string
		want    Upper
	}{
		{"0000 0000 2000 1f00", UpperNVMeAdmin},
		{"0000 0102", UpperNVMe},
		{"0100 0000", UpperNVMe}, // another record format
		{"0001 0000", UpperNVMe},
		{"000000", UpperNVMe},
		{"", UpperNVMe},
	} {
		if got := UpperOfService(service, unhex(t, tc.private)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.private, got, tc.want)
		}
	}
	req := NVMeCMReq(unhex(t, "0000 0102 2000 1f00 0304 ffff"))
	if req.QueueID() != 0x0201 || req.ReceiveQueueSize() != 32 || req.SendQueueSize() != 31 || req.ControllerID() != 0x0403 {
		t.Errorf("queue %#x, sizes %d and %d, controller %#x", req.QueueID(), req.ReceiveQueueSize(), req.SendQueueSize(), req.ControllerID())
	}
}

func TestNVMeStatusParts(t *testing.T) {
	s := NVMeStatusOf(unhex(t, "00000000 00000000 0000 0000 0000 05d4")) // 1 1 01 010 00000010 1
	if s.Code() != 2 || s.Type() != 2 || s.RetryDelay() != 1 || !s.More() || !s.DoNotRetry() {
		t.Errorf("%#04x: code %d, type %d, delay %d, more %v, do not retry %v", uint16(s), s.Code(), s.Type(), s.RetryDelay(), s.More(), s.DoNotRetry())
	}
}

func TestNVMeNames(t *testing.T) {
	for _, tc := range []struct {
		names func(uint64) string
		value uint64
		want  string
	}{
		{nvmeIOName, 0, "Flush"},
		{nvmeIOName, 1, "Write"},
		{nvmeIOName, 2, "Read"},
		{nvmeIOName, 9, "Dataset Management"},
		{nvmeIOName, 0x33, ""},
		{nvmeAdminName, 2, "Get Log Page"},
		{nvmeAdminName, 6, "Identify"},
		{nvmeAdminName, 0x18, "Keep Alive"},
		{nvmeAdminName, 0x33, ""},
		{nvmeFabricsName, 0, "Property Set"},
		{nvmeFabricsName, 1, "Connect"},
		{nvmeFabricsName, 4, "Property Get"},
		{nvmeFabricsName, 8, "Disconnect"},
		{nvmeFabricsName, 9, ""},
		{nvmeSGLName, 0, "Data Block"},
		{nvmeSGLName, 4, "Keyed Data Block"},
		{nvmeSGLName, 1, ""},
	} {
		if got := tc.names(tc.value); got != tc.want {
			t.Errorf("name of %#x = %q, want %q", tc.value, got, tc.want)
		}
	}
}
