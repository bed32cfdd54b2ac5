// A program of React Native: makes the calls when the host says so, and posts the report.
// Without names: Metro would load the module when the first of them is used.
import './platform'
import { runCalls } from './runCalls'

globalThis.makeCalls = (given) => {
  runCalls(given).then(
    (report) => globalThis.post('report', report),
    (error) => globalThis.post('problem', String(error?.stack)),
  )
}
