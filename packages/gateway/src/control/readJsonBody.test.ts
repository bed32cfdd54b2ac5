import { expect, test } from 'vitest'
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
    refusal: { status: 400, code: 'bad_json', message: 'the body did not arrive whole' },
  })
})
