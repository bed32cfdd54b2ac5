import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Step, StepRows } from '../write.ts'

/** What the thread is asked: one transaction. */
export interface WriterQuestion {
  readonly id: number
  readonly steps: readonly Step[]
  readonly light: boolean
}

/** What it answers: the rows of each statement, or SQLite's code of what went wrong. */
export type WriterAnswer =
  | { readonly id: number; readonly rows: readonly StepRows[] }
  | { readonly id: number; readonly errcode: number | undefined }

const { file, waitMs } = workerData as { file: string; waitMs: number }
// Here, in a thread of its own, it may sleep until the file is free.
const database = new DatabaseSync(file, { timeout: waitMs })
database.exec('pragma foreign_keys = on')

const prepared = new Map<string, { statement: StatementSync; hasRows: boolean }>()
const prepare = (text: string): { statement: StatementSync; hasRows: boolean } => {
  let known = prepared.get(text)
  if (known === undefined) {
    const statement = database.prepare(text)
    known = { statement, hasRows: statement.columns().length > 0 }
    if (prepared.size >= 100) prepared.clear()
    prepared.set(text, known)
  }
  return known
}

let light: boolean | undefined
const run = (question: WriterQuestion): readonly StepRows[] => {
  if (light !== question.light) database.exec(`pragma synchronous = ${question.light ? 'normal' : 'full'}`)
  light = question.light
  database.exec('begin immediate')
  const rows = question.steps.map(({ text, values }): StepRows => {
    const { statement, hasRows } = prepare(text)
    if (hasRows) return statement.all(...(values as SQLInputValue[])) as StepRows
    statement.run(...(values as SQLInputValue[]))
    return []
  })
  database.exec('commit')
  return rows
}

const errcodeOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined

const answer = (question: WriterQuestion): WriterAnswer => {
  try {
    return { id: question.id, rows: run(question) }
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    return { id: question.id, errcode: errcodeOf(error) }
  }
}

parentPort?.on('message', (question: WriterQuestion | 'close') => {
  if (question !== 'close') parentPort?.postMessage(answer(question))
  else {
    database.close()
    parentPort?.close()
  }
})
