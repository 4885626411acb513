"""113 patients after a subarachnoid haemorrhage, the example data of pROC, by which published figures are reproduced.

Turck et al. (2010), Intensive Care Medicine 36, 107-115; distributed with pROC as aSAH. Each patient: the outcome (P
poor, G good), the grade of the World Federation of Neurological Surgeons, and the blood markers S100B and NDKA. The
published values in the tests are those that pROC's own tests expect: xrobin/pROC, tests/testthat, in the files
test-power.roc.test.R, test-roc.test.R, test-coords.R, test-ci.auc.R, test-var.R and test-auc.R.
"""

import numpy as np

_PATIENTS = """
    G1:0.13:3.01 G1:0.14:8.54 G1:0.1:8.09 G1:0.04:10.42 P3:0.13:17.4 P2:0.1:12.75 G5:0.47:6 P4:0.16:13.2
    G1:0.18:15.54 G2:0.1:6.01 P5:0.12:15.96 G2:0.1:17.86 P5:0.44:5.18 P5:0.71:8.9 G1:0.04:13.41 G2:0.08:20.75
    P5:0.49:11.6 G2:0.04:16.11 P2:0.07:32.37 P5:0.33:54.82 P2:0.09:32.41 G1:0.09:49.94 P1:0.07:40.34
    G1:0.11:9.47 G1:0.07:6.29 G2:0.17:12.53 G1:0.07:6.54 G2:0.11:6.3 G1:0.13:80.3 G1:0.19:12.8 G3:0.05:9.8
    G4:0.16:9.81 P2:0.41:9.85 G1:0.14:18.21 G4:0.34:5.03 P5:0.35:14.04 P4:0.48:21.93 G1:0.09:8.02 P4:0.96:7.42
    P2:0.25:8.38 G5:0.5:6.59 G5:0.46:9.63 G1:0.16:13.12 G1:0.07:7.96 G2:0.43:14.34 G4:0.45:41.43 G1:0.11:7.63
    G1:0.08:7.06 G2:0.09:12.59 P5:0.86:13.56 P5:0.52:3.87 G2:0.08:9.44 G1:0.06:7.66 G2:0.13:12.98 P5:2.07:419.19
    G1:0.1:27.19 G2:0.14:22.27 G2:0.15:9.95 P2:0.07:21.22 G1:0.06:11.73 P5:0.77:10.4 G1:0.05:58.83 G1:0.09:6.39
    P2:0.3:11.09 P5:0.03:12.22 P2:0.09:13.67 G1:0.04:17.21 P4:0.23:22.63 P5:0.7:12.9 G2:0.09:9.7 P4:0.27:21.57
    P4:0.71:8.23 P1:0.08:72.57 P4:0.26:15.54 G1:0.08:10.51 G2:0.16:10.6 G1:0.09:14.57 P4:0.13:5.19 P2:0.1:9.63
    G1:0.08:4.61 P2:0.11:21.48 G3:0.33:17.3 G2:0.11:12.71 G4:0.28:9.44 G2:0.07:11.07 G1:0.1:19.46 G4:0.32:10.83
    P5:0.22:5.37 G1:0.07:11.97 G1:0.05:7.75 G5:0.24:9.83 G4:0.38:10.55 G2:0.1:28.49 G2:0.15:8.53 G1:0.08:12.57
    G1:0.14:12.9 G1:0.1:46.83 G3:0.07:11.68 G1:0.04:12.67 G2:0.19:9.01 P5:0.56:9.57 P2:0.14:34.06 P2:0.58:11.72
    P5:0.32:14.26 P5:0.82:47.61 P5:0.74:11.67 G2:0.15:24.58 G4:0.47:10.33 G4:0.17:13.87 P5:0.44:15.89
    G1:0.15:22.43 G1:0.5:6.79 G1:0.48:13.45
"""

_FIELDS = [patient.split(":") for patient in _PATIENTS.split()]
POOR = np.array([first[0] == "P" for first, _, _ in _FIELDS])
WFNS = np.array([float(first[1:]) for first, _, _ in _FIELDS])
S100B = np.array([float(marker) for _, marker, _ in _FIELDS])
NDKA = np.array([float(marker) for _, _, marker in _FIELDS])
