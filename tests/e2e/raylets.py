"""A Ray cluster on this machine, in a process of its own: ``python raylets.py N`` tells its address, then obeys.

Lines of standard input: ``kill`` ends a node that is not the head, ``add`` begins one; the end of input ends all.
"""

import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=1) for _ in range(int(sys.argv[1]) - 1)]
print(cluster.address, flush=True)
for line in sys.stdin:
    if line.strip() == "kill":
        cluster.remove_node(nodes.pop(), allow_graceful=False)
    else:
        nodes.append(cluster.add_node(num_cpus=1))
    print("done", flush=True)
cluster.shutdown()
