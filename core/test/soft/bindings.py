# SPDX-License-Identifier: MIT
"""
rdma-core's Python bindings on soft0: queue pairs of every type, both ways to post and to poll, shared
receive queues, address handles, events and connections. Skipped without pyverbs.
"""

import os
import select
import shutil
import struct
import tempfile
import time
import unittest

try:
    import pyverbs.cm_enums as ce
    import pyverbs.enums as e
    from pyverbs.addr import AH, AHAttr, GlobalRoute
    from pyverbs.cmid import CMID, AddrInfo
    from pyverbs.cq import CQ, CQEX, CompChannel, CqInitAttrEx, PollCqAttr
    from pyverbs.device import Context
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.pyverbs_error import PyverbsRDMAError
    from pyverbs.qp import QP, QPAttr, QPCap, QPEx, QPInitAttr, QPInitAttrEx
    from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
    from pyverbs.wr import SGE, RecvWR, SendWR
except ImportError:
    e = None

PATIENCE = 60
QKEY = 0x1234
SIZE = 4096
GRH_BYTES = 40


def setUpModule():
    os.environ["VERBMARK_SOFT_DIR"] = tempfile.mkdtemp(prefix="soft")
    unittest.addModuleCleanup(shutil.rmtree, os.environ["VERBMARK_SOFT_DIR"])


def send_operations():
    return (
        e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_SEND_WITH_IMM | e.IBV_QP_EX_WITH_RDMA_WRITE
        | e.IBV_QP_EX_WITH_RDMA_READ | e.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
        | e.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
    )  # fmt: skip


@unittest.skipUnless(e, "pyverbs is not installed")
class Bindings(unittest.TestCase):
    """Two queue pairs in one process, "near" and "far", each with a region."""

    def setUp(self):
        self.context = Context(name="soft0")
        self.addCleanup(self.context.close)
        self.pd = PD(self.context)
        access = (
            e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
            | e.IBV_ACCESS_REMOTE_ATOMIC
        )  # fmt: skip
        self.near, self.far = (MR(self.pd, SIZE, access) for _ in range(2))
        self.cq = CQ(self.context, 64)

    def route(self):
        return AHAttr(
            gr=GlobalRoute(dgid=self.context.query_gid(1, 0), sgid_index=0),
            is_global=1, port_num=1,
        )  # fmt: skip

    def make(self, kind, cq=None, srq=None):
        cap = QPCap(max_send_wr=16, max_recv_wr=16, max_inline_data=64)
        init = QPInitAttr(qp_type=kind, scq=cq or self.cq, rcq=cq or self.cq, srq=srq, cap=cap)
        return QP(self.pd, init)

    def make_extended(self, kind):
        init = QPInitAttrEx(
            qp_type=kind, scq=self.cq, rcq=self.cq, pd=self.pd,
            cap=QPCap(max_send_wr=16, max_recv_wr=16, max_inline_data=64), comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
            | e.IBV_QP_INIT_ATTR_CREATE_FLAGS,
            send_ops_flags=send_operations(),
        )  # fmt: skip
        return QPEx(self.context, init)

    def connect(self, near, far):
        for qp, peer in ((near, far), (far, near)):
            attr = QPAttr(port_num=1)
            attr.qp_access_flags = (
                e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC
            )
            attr.qkey = QKEY
            attr.path_mtu = e.IBV_MTU_1024
            attr.dest_qp_num = peer.qp_num
            attr.ah_attr = self.route()
            attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
            attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
            qp.to_rts(attr)
        return near, far

    def receive(self, queue, wr_id=1):
        queue.post_recv(RecvWR(wr_id, 1, [SGE(self.far.buf, SIZE, self.far.lkey)]))

    def post(self, qp, opcode, size=64, **more):
        """Posts a request of the near region to the far one."""
        request = SendWR(
            wr_id=7, opcode=opcode, num_sge=1, sg=[SGE(self.near.buf, size, self.near.lkey)], **more
        )
        if opcode in (e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_READ):
            request.set_wr_rdma(self.far.rkey, self.far.buf)
        qp.post_send(request)

    def complete(self, count=1, cq=None):
        """Returns the next completions."""
        found = []
        deadline = time.monotonic() + PATIENCE
        while len(found) < count:
            self.assertLess(time.monotonic(), deadline)
            found += (cq or self.cq).poll(count - len(found))[1]
        return found

    def succeed(self, count=1):
        found = self.complete(count)
        self.assertEqual([wc.status for wc in found], [e.IBV_WC_SUCCESS] * count)
        return {wc.opcode: wc for wc in found}

    def test_send(self):
        for kind in (e.IBV_QPT_RC, e.IBV_QPT_UC):
            near, far = self.connect(self.make(kind), self.make(kind))
            self.receive(far)
            self.near.write(b"message of a send", 17)
            self.post(near, e.IBV_WR_SEND_WITH_IMM, 17, imm_data=99)
            wc = self.succeed(2)[e.IBV_WC_RECV]
            self.assertEqual((wc.byte_len, wc.imm_data, wc.qp_num), (17, 99, far.qp_num))
            self.assertEqual(self.far.read(17, 0), b"message of a send")

    def test_one_sided(self):
        near, _ = self.connect(self.make(e.IBV_QPT_RC), self.make(e.IBV_QPT_RC))
        self.near.write(b"written", 7)
        self.post(near, e.IBV_WR_RDMA_WRITE, 7)
        self.succeed()
        self.assertEqual(self.far.read(7, 0), b"written")
        self.far.write(b"to read", 7)
        self.post(near, e.IBV_WR_RDMA_READ, 7)
        self.succeed()
        self.assertEqual(self.near.read(7, 0), b"to read")

    def test_atomics(self):
        near, _ = self.connect(self.make(e.IBV_QPT_RC), self.make(e.IBV_QPT_RC))
        self.far.write(struct.pack("=Q", 40), 8)
        for opcode, compare_add, before, after in (
            (e.IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 40, 42),
            (e.IBV_WR_ATOMIC_CMP_AND_SWP, 42, 42, 5),
            (e.IBV_WR_ATOMIC_CMP_AND_SWP, 42, 5, 5),
        ):
            request = SendWR(
                opcode=opcode, num_sge=1, sg=[SGE(self.near.buf, 8, self.near.lkey)]
            )
            request.set_wr_atomic(self.far.rkey, self.far.buf, compare_add, 5)
            near.post_send(request)
            self.succeed()
            self.assertEqual(struct.unpack("=Q", self.near.read(8, 0))[0], before)
            self.assertEqual(struct.unpack("=Q", self.far.read(8, 0))[0], after)

    def test_datagrams(self):
        near, far = self.connect(self.make(e.IBV_QPT_UD), self.make(e.IBV_QPT_UD))
        self.receive(far)
        self.near.write(b"datagram", 8)
        request = SendWR(
            opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(self.near.buf, 8, self.near.lkey)]
        )
        request.set_wr_ud(AH(self.pd, attr=self.route()), far.qp_num, QKEY)
        near.post_send(request)
        wc = self.succeed(2)[e.IBV_WC_RECV]
        self.assertEqual((wc.src_qp, wc.byte_len), (near.qp_num, GRH_BYTES + 8))
        self.assertEqual(self.far.read(8, GRH_BYTES), b"datagram")

    def test_extended_posts(self):
        near, far = self.connect(self.make_extended(e.IBV_QPT_RC), self.make_extended(e.IBV_QPT_RC))
        self.near.write(b"extended", 8)
        self.receive(far)
        near.wr_start()
        near.wr_id, near.wr_flags = 1, e.IBV_SEND_SIGNALED
        near.wr_rdma_write(self.far.rkey, self.far.buf + 100)
        near.wr_set_sge(SGE(self.near.buf, 8, self.near.lkey))
        near.wr_id = 2
        near.wr_send()
        near.wr_set_sge(SGE(self.near.buf, 4, self.near.lkey))
        near.wr_id = 3
        near.wr_rdma_read(self.far.rkey, self.far.buf + 100)
        near.wr_set_sge(SGE(self.near.buf + 100, 8, self.near.lkey))
        near.wr_complete()
        found = self.complete(4)
        self.assertEqual({wc.status for wc in found}, {e.IBV_WC_SUCCESS})
        self.assertEqual([wc.wr_id for wc in found if not wc.opcode & e.IBV_WC_RECV], [1, 2, 3])
        self.assertEqual(self.far.read(8, 100), b"extended")
        self.assertEqual(self.near.read(8, 100), b"extended")
        near.wr_start()
        near.wr_send()
        near.wr_abort()
        self.assertEqual(self.cq.poll(1)[0], 0)

    def test_extended_polls(self):
        flags = e.IBV_WC_STANDARD_FLAGS | e.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        cq = CQEX(self.context, CqInitAttrEx(cqe=16, wc_flags=flags))
        near, far = self.connect(self.make(e.IBV_QPT_RC, cq), self.make(e.IBV_QPT_RC, cq))
        self.receive(far, 21)
        self.post(near, e.IBV_WR_SEND_WITH_IMM, 5, imm_data=6)
        found = {}
        result = cq.start_poll(PollCqAttr())
        while not result:
            self.assertEqual(cq.status, e.IBV_WC_SUCCESS)
            self.assertGreater(cq.read_timestamp(), 0)
            found[cq.wr_id] = (cq.read_opcode(), cq.read_byte_len(), cq.read_qp_num())
            result = cq.poll_next()
        cq.end_poll()
        self.assertEqual(found[21], (e.IBV_WC_RECV, 5, far.qp_num))
        self.assertEqual(found[7][0], e.IBV_WC_SEND)

    def test_shared_receives(self):
        srq = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=8, max_sge=1)))
        near, far = self.connect(self.make(e.IBV_QPT_RC), self.make(e.IBV_QPT_RC, srq=srq))
        self.receive(srq, 31)
        self.receive(srq, 32)
        srq.modify(SrqAttr(srq_limit=2), e.IBV_SRQ_LIMIT)
        self.post(near, e.IBV_WR_SEND)
        wc = self.succeed(2)[e.IBV_WC_RECV]
        self.assertEqual((wc.wr_id, wc.qp_num), (31, far.qp_num))
        self.assertEqual(self.event(), e.IBV_EVENT_SRQ_LIMIT_REACHED)

    def event(self):
        """Returns the type of the next asynchronous event."""
        event = self.context.get_async_event()
        event.ack()
        return event.event_type

    def test_completion_events(self):
        channel = CompChannel(self.context)
        cq = CQ(self.context, 16, channel=channel)
        near, far = self.connect(self.make(e.IBV_QPT_RC), self.make(e.IBV_QPT_RC, cq))
        cq.req_notify()
        self.receive(far)
        self.post(near, e.IBV_WR_SEND)
        channel.get_cq_event(cq)
        cq.ack_events(1)
        self.assertEqual(self.complete(cq=cq)[0].opcode, e.IBV_WC_RECV)

    def test_errors(self):
        near, far = self.connect(self.make(e.IBV_QPT_RC), self.make(e.IBV_QPT_RC))
        self.receive(far)
        request = SendWR(
            opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(self.near.buf, 8, self.near.lkey)]
        )
        request.set_wr_rdma(self.far.rkey, self.far.buf + SIZE - 7)
        near.post_send(request)
        found = {wc.qp_num: wc.status for wc in self.complete(2)}
        self.assertEqual(found[near.qp_num], e.IBV_WC_REM_ACCESS_ERR)
        self.assertEqual(found[far.qp_num], e.IBV_WC_WR_FLUSH_ERR)
        self.assertEqual(near.query(e.IBV_QP_STATE)[0].qp_state, e.IBV_QPS_ERR)
        self.assertEqual(self.event(), e.IBV_EVENT_QP_ACCESS_ERR)

    def test_ece(self):
        with self.assertRaises(PyverbsRDMAError):
            self.make(e.IBV_QPT_RC).query_ece()

    def serve(self, ready):
        """Answers one client of test_connection."""
        listener = CMID(
            creator=AddrInfo(
                src="127.0.0.1", src_service="7471", port_space=ce.RDMA_PS_TCP, flags=ce.RAI_PASSIVE
            ),
            qp_init_attr=QPInitAttr(cap=QPCap(max_recv_wr=4)),
        )
        listener.listen()
        os.write(ready, b"1")
        client = listener.get_request()
        region = client.reg_msgs(SIZE)
        client.post_recv(region)
        client.accept()
        assert client.get_recv_comp().status == e.IBV_WC_SUCCESS
        client.post_send(region)
        assert client.get_send_comp().status == e.IBV_WC_SUCCESS

    def test_connection(self):
        """The calls of connections block the interpreter, so the server is another process."""
        reader, ready = os.pipe()
        server = os.fork()
        if not server:
            code = 1
            try:
                self.serve(ready)
                code = 0
            finally:
                os._exit(code)
        self.assertTrue(select.select([reader], [], [], PATIENCE)[0])
        client = CMID(
            creator=AddrInfo(src="127.0.0.1", dst="127.0.0.1", dst_service="7471",
                             port_space=ce.RDMA_PS_TCP),
            qp_init_attr=QPInitAttr(cap=QPCap(max_recv_wr=4)),
        )  # fmt: skip
        region = client.reg_msgs(SIZE)
        client.post_recv(region)
        client.connect()
        region.write(b"to and fro", 10)
        client.post_send(region)
        self.assertEqual(client.get_send_comp().status, e.IBV_WC_SUCCESS)
        self.assertEqual(client.get_recv_comp().status, e.IBV_WC_SUCCESS)
        self.assertEqual(region.read(10, 0), b"to and fro")
        self.assertEqual(os.waitpid(server, 0)[1], 0)
        client.close()
