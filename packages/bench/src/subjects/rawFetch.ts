import type { Subject } from './subject.ts'

interface RpcResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

/** The second reference: the global `fetch` as it is commonly used, without a timer. */
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
      const response = (await post({ jsonrpc: '2.0', id, method, params })) as RpcResponse
      if (response.id !== id) throw new Error('the response is for another call')
      if (response.error) throw new Error(response.error.message)
      return response.result
    },
    wave: async (method, list) => {
      const firstId = lastId + 1
      lastId += list.length
      const responses = (await post(
        list.map((params, at) => ({ jsonrpc: '2.0', id: firstId + at, method, params })),
      )) as RpcResponse[]
      const byId = new Map(responses.map((response) => [response.id, response]))
      return list.map((_, at) => {
        const response = byId.get(firstId + at)
        if (!response) throw new Error('a response is missing')
        if (response.error) throw new Error(response.error.message)
        return response.result
      })
    },
    close: () => {},
  }
}
