import type { RpcErrorObject } from '@keyrail/core'

/** A call and its answer, as they were recorded. */
export interface RecordedCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result?: unknown
  readonly error?: RpcErrorObject
}

/** What a recording is in a file. */
export interface RecordedCalls {
  readonly calls: readonly RecordedCall[]
}

/** What makes two calls the same. */
export function callKey(method: string, params: readonly unknown[]): string {
  return JSON.stringify([method, params])
}

/** What is needed of Node's own files. */
export interface NodeFiles {
  readonly readFile: (file: string, encoding: 'utf8') => Promise<string>
  readonly writeFile: (file: string, text: string) => Promise<void>
}

/** Files of Node, where there is Node: browsers have none, and their bundles are to hold nothing of it. */
export function nodeFiles(): NodeFiles | undefined {
  return globalThis.process?.getBuiltinModule?.('node:fs/promises')
}
