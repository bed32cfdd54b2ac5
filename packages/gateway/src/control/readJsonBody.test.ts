import { expect, test } from 'vitest'
import { routeOf } from './contract/routes.ts'
import { readInput } from './readInput.ts'
import { readJsonBody } from './readJsonBody.ts'

test('a body that ends before its end is a bad one, and no failure of ours', async () => {
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
    rejection: { status: 400, code: 'bad_json', message: 'the body did not arrive whole' },
  })
})

test('of whoever is not logged in no more is read than a log-in can be', async () => {
  const send = (length: number) =>
    new Request('http://localhost/api', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'x'.repeat(length) }),
    })
  const codeOf = async (name: 'POST /api/session' | 'POST /api/apps', length: number): Promise<string> => {
    const input = await readInput(send(length), routeOf(name), {})
    return 'rejection' in input ? input.rejection.code : 'read'
  }
  expect(await codeOf('POST /api/session', 8_000)).toBe('invalid')
  expect(await codeOf('POST /api/session', 8_300)).toBe('body_too_large')
  expect(await codeOf('POST /api/apps', 60_000)).toBe('invalid')
  expect(await codeOf('POST /api/apps', 66_000)).toBe('body_too_large')
})
