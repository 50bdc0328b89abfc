import re,glob
W='../internal/wire/'
src={f:open(W+f).read() for f in ['cm_req.go','cm_mra.go','cm_rej.go','cm_rep.go','cm_rtu.go','cm_dreq.go','cm_drep.go','cm_sidr_req.go','cm_sidr_rep.go','cm_lap.go','cm_apr.go']}
title={'Req':('ConnectRequest','12.6.5'),'Mra':('MsgRcptAck','12.6.6'),'Rej':('ConnectReject','12.6.7'),'Rep':('ConnectReply','12.6.8'),'Rtu':('ReadyToUse','12.6.9'),'Dreq':('DisconnectRequest','12.6.10'),'Drep':('DisconnectReply','12.6.11'),'SidrReq':('ServiceIDResReq','12.11.1'),'SidrRep':('ServiceIDResReqResp','12.11.2'),'Lap':('LoadAlternatePath','12.8.1'),'Apr':('AlternatePathResponse','12.8.2')}
special={'Rej':[('Info','[]byte','additional reject information that counts; its length is written too')],
 'Apr':[('Info','[72]byte','additional information','infiniband.cm.apr.info')],
 'SidrRep':[('ClassPortInfo','[72]byte','of the port to ask instead, when redirected','?')]}
def docs(text):
    out={}
    for m in re.finditer(r'// (\w+) (is|reports|says)(.*?)\nfunc \((?:m|p) \w+\) (\w+)\(\) ([\w.]+) ',text,re.S):
        pass
    for m in re.finditer(r'((?://.*\n)+)func \((?:m|p) (\w+)\) (\w+)\(\) ([\w.]+) \{',text):
        com=' '.join(l[3:] for l in m.group(1).strip().split('\n'))
        out[(m.group(2),m.group(3))]=(com,m.group(4))
    return out
for f,t in src.items():
    name=re.search(r'^type CM(\w+) \[\]byte',t,re.M).group(1)
    T='CM'+name
    d=docs(t)
    fields=[]
    for (ty,n),(com,typ) in d.items():
        if ty!=T or n in('PrivateData','Info') : continue
        if typ=='CMPath': continue
        if ('Set'+n) not in t: print('no setter',T,n); continue
        c=re.sub(r'^\w+ (is (the )?|reports whether )','',com).rstrip('.')
        fields.append((n,typ,c))
    infolen = name=='Rej'
    if infolen: fields=[x for x in fields if x[0]!='InfoLength']
    paths = ['PrimaryPath','AlternatePath'] if name=='Req' else []
    tt,cl=title[name]
    art='an' if tt[0] in 'A' else 'a'
    o=f'''package layers

import (
'''
    if any(x[1]=='netip.Addr' for x in fields): o+='\t"net/netip"\n\n'
    o+=f'''	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// {T} is {art} {tt} (IBTA vol. 1, {cl}).
type {T} struct {{
	BaseLayer
'''
    for n,ty,c in fields: o+=f'\t{n} {ty} // {c}\n'
    for p in paths: o+=f'\t{p} CMPath\n'
    sp=special.get(name,[])
    for s in sp: o+=f'\t{s[0]} {s[1]} // {s[2]}\n'
    o+=f'''	PrivateData []byte // what the consumer sends along, filled up with zeros
}}

// LayerType returns LayerType{T}.
func (*{T}) LayerType() gopacket.LayerType {{ return LayerType{T} }}

// CanDecode returns LayerType{T}.
func (*{T}) CanDecode() gopacket.LayerClass {{ return LayerType{T} }}

// NextLayerType is none.
func (*{T}) NextLayerType() gopacket.LayerType {{ return gopacket.LayerTypeZero }}

// DecodeFromBytes reads the message that begins data.
func (h *{T}) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {{
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerType{T}, data, wire.{T}Len, df); err != nil {{
		return err
	}}
	v := wire.{T}(data)
'''
    for n,ty,c in fields: o+=f'\th.{n} = v.{n}()\n'
    for p in paths: o+=f'\th.{p} = readCMPath(v.{p}())\n'
    if name=='Rej': o+='\th.Info = v.Info()\n'
    for s in sp:
        if len(s)>3: o+=f'\tcopy(h.{s[0]}[:], fieldOf(wire.Hdr{T}, "{s[3]}").Raw(data))\n'
    o+=f'''	return nil
}}

// SerializeTo writes the message before what b holds.
func (h *{T}) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {{
	room, err := prependCM(b, LayerType{T}, wire.{T}Len, h.PrivateData)
	if err != nil {{
		return err
	}}
	v := wire.{T}(room)
'''
    for n,ty,c in fields: o+=f'\tv.Set{n}(h.{n})\n'
    for p in paths: o+=f'\th.{p}.write(v.{p}())\n'
    if name=='Rej': o+='\tv.SetInfoLength(uint8(len(h.Info)))\n\tcopy(v.Info(), h.Info)\n'
    for s in sp:
        if len(s)>3: o+=f'\tcopy(fieldOf(wire.Hdr{T}, "{s[3]}").Raw(room), h.{s[0]}[:])\n'
    o+='''	return nil
}
'''
    open(f.replace('_',''),'w').write(o)
    if name=='Req':
        pf=[(n,typ,re.sub(r'^\w+ (is (the )?|reports whether )','',com).rstrip('.')) for (ty,n),(com,typ) in d.items() if ty=='CMPath']
        o='''package layers

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMPath is a path in a CMReq (IBTA vol. 1, 12.7): local is the sender's end.
type CMPath struct {
'''
        for n,ty,c in pf: o+=f'\t{n} {ty} // {c}\n'
        o+='''}

func readCMPath(v wire.CMPath) CMPath {
	return CMPath{
'''
        for n,ty,c in pf: o+=f'\t\t{n}: v.{n}(),\n'
        o+='''	}
}

func (p *CMPath) write(v wire.CMPath) {
'''
        for n,ty,c in pf: o+=f'\tv.Set{n}(p.{n})\n'
        o+='}\n'
        open('cmpath.go','w').write(o)
