import { expect, test } from 'vitest'
import { getRoute } from './routes.ts'
import { readInput } from './readInput.ts'
import { readJsonBody } from './readJsonBody.ts'

test('a truncated body is a client error, not an internal error', async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(Buffer.from('{"a":')),
    pull: (stream) => stream.error(new Error('aborted')),
  })
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  }
  expect(await readJsonBody(new Request('http://localhost/api/apps', init))).toEqual({
    error: { status: 400, code: 'bad_json', message: 'The body is incomplete. Send the request again.' },
  })
})

test('anonymous requests have a smaller body limit', async () => {
  const send = (length: number) =>
    new Request('http://localhost/api', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'x'.repeat(length) }),
    })
  const getCode = async (name: 'POST /api/session' | 'POST /api/apps', length: number): Promise<string> => {
    const input = await readInput(send(length), getRoute(name), {})
    return 'error' in input ? input.error.code : 'read'
  }
  expect(await getCode('POST /api/session', 8_000)).toBe('invalid')
  expect(await getCode('POST /api/session', 8_300)).toBe('body_too_large')
  expect(await getCode('POST /api/apps', 60_000)).toBe('invalid')
  expect(await getCode('POST /api/apps', 66_000)).toBe('body_too_large')
})
