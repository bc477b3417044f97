"""What PPTP does for a defense: which part is trained again (`designs`), beside the defense alone (`defenses`), `cost`.

Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks" (PPTP, arXiv
2602.02296), figures 12 to 16, none of which has printed numbers: what the text says of them stands in the claims. Table
7 prints accuracies on TinyImageNet, by which a setting is known as the paper's.
"""
