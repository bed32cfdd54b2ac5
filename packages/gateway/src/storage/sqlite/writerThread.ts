import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Step, StepRows } from '../database.ts'
import { createPreparer } from './createPreparer.ts'
import { getErrcode } from './sqliteError.ts'

/** A request to the thread: one transaction. */
export interface WriterRequest {
  readonly id: number
  readonly steps: readonly Step[]
  readonly light: boolean
}

/** The response: the rows of each statement, or SQLite's error code. */
export type WriterResponse =
  | { readonly id: number; readonly rows: readonly StepRows[] }
  | { readonly id: number; readonly errcode: number | undefined }

const { file, waitMs } = workerData as { file: string; waitMs: number }
// This thread may block until the file is unlocked.
const database = new DatabaseSync(file, { timeout: waitMs })
database.exec('pragma foreign_keys = on')

const prepare = createPreparer(database, 100)

let light: boolean | undefined
const run = (request: WriterRequest): readonly StepRows[] => {
  if (light !== request.light) database.exec(`pragma synchronous = ${request.light ? 'normal' : 'full'}`)
  light = request.light
  database.exec('begin immediate')
  const rows = request.steps.map(({ text, values }): StepRows => {
    const { statement, hasRows } = prepare(text)
    if (hasRows) return statement.all(...(values as SQLInputValue[])) as StepRows
    statement.run(...(values as SQLInputValue[]))
    return []
  })
  database.exec('commit')
  return rows
}

const respond = (request: WriterRequest): WriterResponse => {
  try {
    return { id: request.id, rows: run(request) }
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    return { id: request.id, errcode: getErrcode(error) }
  }
}

parentPort?.on('message', (request: WriterRequest | 'close') => {
  if (request !== 'close') parentPort?.postMessage(respond(request))
  else {
    database.close()
    parentPort?.close()
  }
})
