// Package dcqcn is the congestion control of RoCEv2 as Zhu and others describe
// it ("Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015):
// the notification point, which answers packets marked CE with CNPs, and the
// reaction point, which slows a flow on CNPs and lets it recover.
//
// Sections and equations named in comments are the paper's. The marking in
// switches is not here.
package dcqcn
