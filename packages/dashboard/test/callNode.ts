/** Makes one call to a URL, as a program would. @returns The response, with any status. */
export async function callNode(
  address: string,
  method = 'eth_blockNumber',
  { params = [], headers = {} }: { params?: readonly unknown[]; headers?: Readonly<Record<string, string>> } = {},
): Promise<{
  readonly status: number
  readonly result?: unknown
  readonly reason?: string
  readonly message?: string
}> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    result?: unknown
    error?: { message: string; data?: { reason?: string } }
  }
  return {
    status: response.status,
    ...(result !== undefined && { result }),
    ...(error && { message: error.message }),
    ...(error?.data?.reason && { reason: error.data.reason }),
  }
}
