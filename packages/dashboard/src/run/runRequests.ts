import type { RequestStep } from './exampleCalls.ts'
import { sendRequest } from './sendRequest.ts'
import type { RequestResult } from './sendRequest.ts'

/**
 * Sends requests in order, until one fails.
 * @returns The result of each that was sent; at least one.
 */
export async function runRequests(
  url: string,
  steps: readonly RequestStep[],
  options: { readonly token?: string; readonly signal: AbortSignal },
): Promise<readonly RequestResult[]> {
  const results: RequestResult[] = []
  for (const step of steps) {
    const result = await sendRequest(url, step(results.at(-1)?.response?.result), options)
    results.push(result)
    if (result.response === undefined || result.response.status >= 400 || result.response.error !== undefined) break
  }
  return results
}
