import { afterEach, describe, expect, test } from 'vitest'
import { createProvider } from '../src/transport/createProvider.ts'
import { createTransport } from '../src/transport/createTransport.ts'
import type { KeyrailTransport } from '../src/transport/transport.ts'
import { memoryFetch } from './memoryFetch.ts'

const key = 'kr_notARealKey0123456789wxyz'
const file = 'callSite.test.ts'
const failing = { text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"execution aborted"}}', status: 400 }

let opened: KeyrailTransport | undefined
afterEach(() => opened?.close())

const open = (): KeyrailTransport => {
  const { fetch } = memoryFetch(() => failing)
  opened = createTransport({ url: `https://node.example/v2/${key}`, fetch, retry: false })
  return opened
}

const getStack = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    await call()
  } catch (error) {
    return `${(error as Error).stack}`
  }
  throw new Error('the call did not fail')
}

const request = { method: 'eth_call', params: [] } as const

describe('the stack of a failed call', () => {
  async function readBlock(transport: KeyrailTransport): Promise<void> {
    await transport.request({ method: 'eth_blockNumber' })
  }

  async function readAll(transport: KeyrailTransport): Promise<void> {
    await Promise.all([transport.request({ method: 'eth_blockNumber' }), transport.request({ method: 'eth_chainId' })])
  }

  test.each([
    ['request', readBlock],
    ['Promise.all', readAll],
  ])('names the function and the file that called: %s', async (_name, call) => {
    const stack = await getStack(() => call(open()))
    expect(stack).toMatch(new RegExp(`at (async )?${call.name} .*${file}`))
    expect(stack).toMatch(/^KeyrailError: eth_blockNumber failed.*execution aborted/)
  })

  test('names the caller of a provider', async () => {
    async function callThroughProvider(): Promise<void> {
      await createProvider(open()).request(request)
    }
    expect(await getStack(callThroughProvider)).toMatch(new RegExp(`at (async )?callThroughProvider .*${file}`))
  })

  test('names the caller if the deadline passes or the transport is closed', async () => {
    const { fetch } = memoryFetch(() => ({ headOnly: true }))
    opened = createTransport({ url: 'https://node.example/', fetch, timeoutMs: 20 })
    expect(await getStack(() => readBlock(opened as KeyrailTransport))).toMatch(/timeout[^]*at (async )?readBlock /)
    const closed = getStack(() => readBlock(opened as KeyrailTransport))
    opened.close()
    expect(await closed).toMatch(/aborted[^]*at (async )?readBlock /)
  })

  test('names the caller of an invalid call', async () => {
    const stack = await getStack(() => open().request({ method: '' } as never))
    expect(stack).toContain(file)
  })

  test('contains no key', async () => {
    expect(await getStack(() => readBlock(open()))).not.toContain(key.slice(3, 11))
  })

  test('is unchanged for the reason of an abort', async () => {
    const reason = new Error('no longer needed')
    const { stack } = reason
    const controller = new AbortController()
    const ended = getStack(() => open().request(request, { signal: controller.signal }))
    controller.abort(reason)
    expect(await ended).toBe(stack)
  })

  test('is unchanged if the engine does not capture stacks', async () => {
    const { captureStackTrace } = Error
    try {
      Error.captureStackTrace = undefined as never
      expect(await getStack(() => readBlock(open()))).toContain('execution aborted')
    } finally {
      Error.captureStackTrace = captureStackTrace
    }
  })
})
