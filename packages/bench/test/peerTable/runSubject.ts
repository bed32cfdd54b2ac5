import { adapters, getApis, runAdapterCase } from '@keyrail/core/test/adapterVectors.ts'
import { columns } from './subjects.ts'

// A process of its own for each, so that what one prints, leaves running or rejects is not put down to another.
const name = process.argv[2]
const column = columns.find(({ subject }) => subject.name === name)
if (!column) throw new Error(`no subject is called '${name}'`)
for (const oneCase of adapters.cases) {
  if (!oneCase.appliesTo.includes('ts')) continue
  for (const face of getApis(oneCase)) {
    const { problems, tookMs } = await runAdapterCase(column.subject, oneCase, { api: face })
    process.stdout.write(`${JSON.stringify({ subject: name, name: oneCase.name, face, problems, tookMs })}\n`)
  }
}
// What a peer leaves running does not keep the table waiting.
process.exit()
