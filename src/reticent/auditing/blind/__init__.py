"""The blind baseline: are these members and non-members, or just different data?

Paper: Das, Zhang and Tramer (2024), "Blind baselines beat membership inference attacks for foundation models" (arXiv
2406.16201). Where who is a member was not drawn at random, a classifier that sees the records and never the model may
tell members from non-members. Then an attack's AUC says nothing of the model: only what it finds beyond that does.

* `features`: what a classifier sees of tables, pictures and texts
* `learners`: the classifier
* `baseline`: folds, AUC, interval
* `excess`: what attacks find beyond it, paired over records
"""
