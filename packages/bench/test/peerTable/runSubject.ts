import { adapters, getApis, runAdapterCase } from '@keyrail/core/test/adapterVectors.ts'
import { columns } from './subjects.ts'

// Each subject runs in a separate process, so that its output, timers and rejections are not attributed to another.
const name = process.argv[2]
const column = columns.find(({ subject }) => subject.name === name)
if (!column) throw new Error(`Unknown subject "${name}".`)
for (const oneCase of adapters.cases) {
  if (!oneCase.appliesTo.includes('ts')) continue
  for (const api of getApis(oneCase)) {
    const { problems, tookMs } = await runAdapterCase(column.subject, oneCase, { api: api })
    process.stdout.write(`${JSON.stringify({ subject: name, name: oneCase.name, api, problems, tookMs })}\n`)
  }
}
// Exits although a peer may have left timers or connections.
process.exit()
