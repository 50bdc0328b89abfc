"""One end of a small RC conversation over rxe0, for what no standard tool sends.

    verbs_peer.py server CASE
    verbs_peer.py client CASE SERVER

The ends exchange queue pair numbers, keys and addresses over TCP port 19999.
What completes is printed, one a line: work request, status, bytes. Without a
case the script prints their list.
"""

import json
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBindInfo
from pyverbs.pd import PD
from pyverbs.qp import QPAttr, QPCap, QPEx, QPInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR

TCP_PORT = 19999
BUFFER = 16384
GID_INDEX = 1  # the IPv4 address of eth0


class Channel:
    """The TCP connection that the ends agree over."""

    def __init__(self, server):
        self.stream = (self.connect(server) if server else self.accept()).makefile("rw")

    @staticmethod
    def accept():
        with socket.create_server(("", TCP_PORT)) as listener:
            return listener.accept()[0]

    @staticmethod
    def connect(server):
        for _ in range(100):
            try:
                return socket.create_connection((server, TCP_PORT))
            except ConnectionRefusedError:
                time.sleep(0.2)
        sys.exit(f"nobody listens on {server}:{TCP_PORT}")

    def send(self, value):
        self.stream.write(json.dumps(value) + "\n")
        self.stream.flush()

    def receive(self):
        return json.loads(self.stream.readline())

    def swap(self, value):
        self.send(value)
        return self.receive()

    def sync(self):
        self.swap("sync")


class Peer:
    """A connected queue pair with one buffer."""

    def __init__(self, channel, first_psn=0x1000, rnr_retry=5, rnr_timer=12, flush=False, atomic_write=False,
                 window=False):
        self.channel = channel
        self.context = Context(name="rxe0")
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 100)
        remote = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
                  | e.IBV_ACCESS_REMOTE_ATOMIC)
        operations = (e.IBV_QP_EX_WITH_RDMA_WRITE | e.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | e.IBV_QP_EX_WITH_RDMA_READ
                      | e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_SEND_WITH_IMM | e.IBV_QP_EX_WITH_SEND_WITH_INV)
        if flush:
            remote |= e.IBV_ACCESS_FLUSH_GLOBAL
            operations |= e.IBV_QP_EX_WITH_FLUSH
        if atomic_write:
            operations |= e.IBV_QP_EX_WITH_ATOMIC_WRITE
        if window:
            operations |= e.IBV_QP_EX_WITH_BIND_MW
        self.mr = MR(self.pd, BUFFER, remote | (e.IBV_ACCESS_MW_BIND if window else 0))
        self.qp = QPEx(self.context, QPInitAttrEx(
            qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(max_send_wr=20, max_recv_wr=20), pd=self.pd,
            send_ops_flags=operations, comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
        self.connect(first_psn, remote, rnr_retry, rnr_timer)

    def connect(self, first_psn, remote, rnr_retry, rnr_timer):
        self.other = self.channel.swap({
            "qpn": self.qp.qp_num, "gid": str(self.context.query_gid(1, GID_INDEX)), "psn": first_psn,
            "rkey": self.mr.rkey, "addr": self.mr.buf})
        attr = QPAttr(port_num=1)
        attr.dest_qp_num = self.other["qpn"]
        attr.path_mtu = e.IBV_MTU_1024
        attr.rq_psn, attr.sq_psn = self.other["psn"], first_psn
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.qp_access_flags = remote
        attr.timeout, attr.retry_cnt = 14, 3
        attr.rnr_retry, attr.min_rnr_timer = rnr_retry, rnr_timer
        route = GlobalRoute(dgid=GID(self.other["gid"]), sgid_index=GID_INDEX, hop_limit=64)
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        self.qp.to_rts(attr)

    def receive(self, n=1, size=4096):
        for _ in range(n):
            self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)], wr_id=1))

    def post(self, opcode, size, offset=None, rkey=None, imm=0):
        """Posts one work request; an offset is into the other end's buffer."""
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)], wr_id=2,
                    send_flags=e.IBV_SEND_SIGNALED, imm_data=imm)
        if offset is not None:
            wr.set_wr_rdma(self.other["rkey"] if rkey is None else rkey, self.other["addr"] + offset)
        self.qp.post_send(wr)

    def extended(self, *calls):
        """Posts requests of the newer verbs: each is a function of the QP, and
        the bytes of the buffer that it takes, or None."""
        self.qp.wr_start()
        for call, size in calls:
            self.qp.wr_id = 3
            self.qp.wr_flags = e.IBV_SEND_SIGNALED
            call(self.qp)
            if size is not None:
                self.qp.wr_set_sge(SGE(self.mr.buf, size, self.mr.lkey))
        self.qp.wr_complete()

    def completions(self, n=1, seconds=10):
        """Prints the next n completions."""
        deadline = time.monotonic() + seconds
        while n > 0:
            if time.monotonic() > deadline:
                sys.exit(f"{n} completions missing")
            count, found = self.cq.poll(n)
            n -= count
            for wc in found:
                kind = {1: "receive", 2: "send", 3: "send"}[wc.wr_id]
                print(kind, e.ibv_wc_status(wc.status).name, wc.byte_len, flush=True)


# A case is a function of the peer and of whether it is the client; its options
# are the ones of Peer.
CASES = {}


def case(**options):
    def add(function):
        CASES[function.__name__] = function, options
        return function
    return add


def immediates(peer, client):
    if not client:
        peer.receive(10)
    peer.channel.sync()
    if client:
        for i in range(5):
            peer.post(e.IBV_WR_RDMA_WRITE_WITH_IMM, 2500 + i, 0, imm=0xCAFE00 + i)
            peer.post(e.IBV_WR_SEND_WITH_IMM, 7 + i, imm=0xBEEF00 + i)
    peer.completions(10)


@case()
def imm(peer, client):
    """WRITE and SEND with immediate data"""
    immediates(peer, client)


@case(first_psn=0xFFFFF0)
def psnwrap(peer, client):
    """the same across the end of the PSN's range"""
    immediates(peer, client)


@case()
def mixed(peer, client):
    """WRITE, READ and SEND in turn"""
    if not client:
        peer.receive(6)
    peer.channel.sync()
    if not client:
        peer.completions(6, 20)
        return
    for i in range(6):
        peer.post(e.IBV_WR_RDMA_WRITE, 3000 + i, 0)
        peer.post(e.IBV_WR_RDMA_READ, 2100 + i, 0)
        peer.post(e.IBV_WR_SEND, 900 + i)
        if i % 2 == 1:
            peer.completions(6)


@case()
def rnr(peer, client):
    """a SEND for which there is never a receive buffer: RNR NAKs, then an error"""
    peer.channel.sync()
    if client:
        peer.post(e.IBV_WR_SEND, 100)
        peer.completions()


@case(rnr_retry=7, rnr_timer=18)
def rnrok(peer, client):
    """SENDs whose receive buffers come late: RNR NAKs, then success"""
    peer.channel.sync()
    if client:
        for i in range(4):
            peer.post(e.IBV_WR_SEND, 1500 + i)
    else:
        time.sleep(0.25)
        peer.receive(4)
    peer.completions(4)


@case()
def badrkey(peer, client):
    """a WRITE with a wrong R_Key"""
    peer.channel.sync()
    if client:
        peer.post(e.IBV_WR_RDMA_WRITE, 2000, 0, rkey=peer.other["rkey"] ^ 0x55)
        peer.completions()


@case()
def badread(peer, client):
    """a READ beyond the end of the memory region"""
    peer.channel.sync()
    if client:
        peer.post(e.IBV_WR_RDMA_READ, 2000, BUFFER - 384)
        peer.completions()


@case()
def toolong(peer, client):
    """a SEND longer than the receive buffer"""
    if not client:
        peer.receive(size=64)
    peer.channel.sync()
    if client:
        peer.post(e.IBV_WR_SEND, 3000)
    peer.completions()


@case()
def silence(peer, client):
    """a WRITE to a queue pair that is gone: timeouts, then an error"""
    peer.channel.sync()
    if not client:
        peer.qp.close()
    peer.channel.sync()
    if client:
        peer.post(e.IBV_WR_RDMA_WRITE, 100, 0)
        peer.completions()


@case(flush=True)
def flush(peer, client):
    """a WRITE, and a FLUSH of its range"""
    peer.channel.sync()
    if client:
        rkey, addr = peer.other["rkey"], peer.other["addr"]
        peer.extended(
            (lambda qp: qp.wr_rdma_write(rkey, addr), 3000),
            (lambda qp: qp.wr_flush(rkey, addr, 3000, e.IBV_FLUSH_GLOBAL, e.IBV_FLUSH_RANGE), None))
        peer.completions(2)


@case(flush=True)
def flushmr(peer, client):
    """a FLUSH of the whole memory region"""
    peer.channel.sync()
    if client:
        rkey, addr = peer.other["rkey"], peer.other["addr"]
        peer.extended((lambda qp: qp.wr_flush(rkey, addr, 0, e.IBV_FLUSH_GLOBAL, e.IBV_FLUSH_MR), None))
        peer.completions()


@case(atomic_write=True)
def atomicwrite(peer, client):
    """an ATOMIC WRITE"""
    peer.channel.sync()
    if client:
        rkey, addr = peer.other["rkey"], peer.other["addr"]
        peer.extended((lambda qp: qp.wr_atomic_write(rkey, addr, b"ABCDEFGH"), None))
        peer.completions()


@case(window=True)
def mw(peer, client):
    """a WRITE through a memory window, a SEND that invalidates it, a WRITE that fails"""
    if not client:
        window = MW(peer.pd, e.IBV_MW_TYPE_2)
        rkey = window.rkey + 1
        info = MWBindInfo(peer.mr, peer.mr.buf, 8192, e.IBV_ACCESS_REMOTE_WRITE)
        peer.receive()
        peer.extended((lambda qp: qp.wr_bind_mw(window, rkey, info), None))
        peer.completions()
        peer.channel.send(rkey)
        peer.completions()
        return
    rkey = peer.channel.receive()
    peer.post(e.IBV_WR_RDMA_WRITE, 500, 0, rkey)
    peer.completions()
    peer.extended((lambda qp: qp.wr_send_inv(rkey), 20))
    peer.completions()
    peer.post(e.IBV_WR_RDMA_WRITE, 500, 0, rkey)
    peer.completions()


def main(role="", name="", server=None):
    if name not in CASES or role != ("client" if server else "server"):
        print(__doc__)
        for known, (function, _) in CASES.items():
            print(f"    {known:12} {function.__doc__}")
        sys.exit(2)
    function, options = CASES[name]
    channel = Channel(server)
    peer = Peer(channel, **options)
    function(peer, role == "client")
    channel.sync()  # neither end may close its queue pair before the other is done


if __name__ == "__main__":
    main(*sys.argv[1:])
