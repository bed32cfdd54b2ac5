import type { RpcErrorObject } from '@keyrail/core'

/** A recorded call with its result or error. */
export interface RecordedCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result?: unknown
  readonly error?: RpcErrorObject
}

/** The content of a recording's file. */
export interface RecordedCalls {
  readonly calls: readonly RecordedCall[]
}

/** Two calls are the same if their keys are equal. */
export function callKey(method: string, params: readonly unknown[]): string {
  return JSON.stringify([method, params])
}

/** The functions of `node:fs/promises` that recordings need. */
export interface NodeFiles {
  readonly readFile: (file: string, encoding: 'utf8') => Promise<string>
  readonly writeFile: (file: string, text: string) => Promise<void>
}

/** Loads `node:fs/promises`; undefined in a browser. Without an import, so that browser bundles stay free of Node modules. */
export function nodeFiles(): NodeFiles | undefined {
  return globalThis.process?.getBuiltinModule?.('node:fs/promises')
}
