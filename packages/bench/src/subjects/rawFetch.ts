import type { Subject } from './subject.ts'

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

/** The second reference: the global `fetch` as people write it, without a timer. */
export function openRawFetch(url: string): Subject {
  const headers = { 'content-type': 'application/json' }
  let lastId = 0
  const post = async (body: unknown): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return response.json()
  }
  return {
    call: async (method, params) => {
      const id = ++lastId
      const answer = (await post({ jsonrpc: '2.0', id, method, params })) as Answer
      if (answer.id !== id) throw new Error('the answer is to another call')
      if (answer.error) throw new Error(answer.error.message)
      return answer.result
    },
    wave: async (method, list) => {
      const firstId = lastId + 1
      lastId += list.length
      const answers = (await post(
        list.map((params, at) => ({ jsonrpc: '2.0', id: firstId + at, method, params })),
      )) as Answer[]
      const byId = new Map(answers.map((answer) => [answer.id, answer]))
      return list.map((_, at) => {
        const answer = byId.get(firstId + at)
        if (!answer) throw new Error('an answer is missing')
        if (answer.error) throw new Error(answer.error.message)
        return answer.result
      })
    },
    close: () => {},
  }
}
