package wire

import "testing"

func TestCNPBodyIsSixteenReservedBytes(t *testing.T) {
	checkAccessors(t, &cnpSpec, CNPLen, nil, nil, "infiniband.cnp.reserved")
	h := make([]byte, CNPLen)
	f := presentField(&cnpSpec, h, "infiniband.cnp.reserved")
	if f == nil || len(f.Raw(h)) != CNPLen {
		t.Errorf("the field is %+v", f)
	}
	if presentField(&cnpSpec, h[:CNPLen-1], "infiniband.cnp.reserved") != nil {
		t.Error("the field is there in 15 bytes")
	}
}
