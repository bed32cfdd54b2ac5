import { report } from './report.mjs'

report()
