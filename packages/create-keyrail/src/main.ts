import { runCreate } from './runCreate.ts'

process.exitCode = await runCreate(process.argv.slice(2), process.env)
