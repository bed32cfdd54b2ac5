import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { classify } from '../packages/core/src/failure/classify.ts'
import { rejections } from '../packages/gateway/src/errors/rejections.ts'
import type { Rejection } from '../packages/gateway/src/errors/rejection.ts'
import { top } from './run.ts'

const page = readFileSync(join(top, 'docs/failures.md'), 'utf8')

/** Returns the members of a union of string literals, in source order. */
function getUnionMembers(file: string, type: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(top, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (statement): statement is ts.TypeAliasDeclaration =>
      ts.isTypeAliasDeclaration(statement) && statement.name.text === type,
  )
  if (!found || !ts.isUnionTypeNode(found.type)) throw new Error(`${file} has no union type ${type}`)
  return found.type.types.map((one) => ((one as ts.LiteralTypeNode).literal as ts.StringLiteral).text)
}

/** Returns the text below each heading of a chapter, by heading. */
function getSections(chapter: string): Map<string, string> {
  const [, text = ''] = page.split(new RegExp(`^## ${chapter}$`, 'm'))
  const [own = ''] = text.split(/^## /m)
  const parts = own.split(/^### (.+)$/m).slice(1)
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ''] as const] : [])))
}

const lists = [
  ['Kinds', getUnionMembers('packages/core/src/failure/failureKind.ts', 'FailureKind')],
  ['Reasons of the service', getUnionMembers('packages/gateway/src/errors/rejection.ts', 'RejectionReason')],
] as const

describe.each(lists)('%s', (chapter, words) => {
  test('has exactly one heading for each', () => {
    expect(words.length).toBeGreaterThan(20)
    expect([...getSections(chapter).keys()].sort()).toEqual([...words].sort())
  })

  test.each(words)('%s has a cause and a fix', (word) => {
    const section = getSections(chapter).get(word) ?? ''
    expect(section).toMatch(/^\s*\*\*Cause[.]\*\* \S[^]{20,}/)
    expect(section).toMatch(/\n\n\*\*Fix[.]\*\* \S[^]{5,}/)
  })
})

/** Arguments for the functions that create rejections. Only those that affect the status or the message matter. */
const rejectionArguments: Readonly<Record<string, readonly unknown[]>> = {
  keyUnknownLimited: [{ retryAfterMs: 1_000, nowMs: 0 }],
  bodyTooLarge: [1],
  keyWrongPath: ['app', 'testnet'],
  wrongNetwork: ['testnet', 'app', ['mainnet']],
  methodNotAllowed: ['eth_call'],
  addressNotAllowed: ['0x'],
  notAllowedWithAddresses: ['a call'],
  jwtInvalid: ['expiry', 'expired'],
  rateLimited: [{ perSecond: 1, retryAfterMs: 1, currentPerSecond: 1, nowMs: 0 }],
  quotaExceeded: [{ limit: 1, remaining: 0, resetAtMs: 0 }, 403],
  batchTooLarge: [2, 1],
  methodNotFound: ['eth_noSuchMethod'],
  useWebSocket: ['eth_subscribe'],
  tooManyConnections: ['key', 1],
  noUpstream: ['testnet'],
  upstreamTimeout: [1],
  responseTooLarge: [1],
}

test('the table of reasons has the status, the code and the kind of each rejection', () => {
  const created = Object.entries(rejections).map(([name, reject]) =>
    (reject as (...args: readonly unknown[]) => Rejection)(...(rejectionArguments[name] ?? [])),
  )
  for (const rejection of created) {
    const { reason, status, code, message, data } = rejection
    const rpcError = { code, message, data: { reason, requestId: 'some', ...data } }
    const kind = classify(
      { text: message, status, rpcError, batch: reason.startsWith('batch') },
      'eth_getBalance',
    )?.kind
    const row = page.split('\n').find((line) => line.startsWith(`| [\`${reason}\`](#${reason})`))
    const [, , statuses = '', codeCell = '', kindCell = ''] = (row ?? '').split('|').map((cell) => cell.trim())
    expect(statuses.split(', '), reason).toContain(String(status))
    expect(codeCell, reason).toBe(String(code))
    expect(kindCell, reason).toBe(`[${kind}](#${kind?.toLowerCase()})`)
  }
  expect(new Set(created.map(({ reason }) => reason))).toEqual(new Set(lists[1][1]))
})
