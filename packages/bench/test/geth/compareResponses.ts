import { getApiKeyUrl } from '@keyrail/gateway'
import { post, startGateway } from '@keyrail/gateway/test/startGateway.ts'
import type { Conversation } from './conversations.ts'

/** The responses to a request of a conversation. */
export interface ComparedResponse {
  /** The name of the conversation. */
  readonly name: string
  /** 1 for the first time that the request was sent, 2 for the second. */
  readonly round: 1 | 2
  /** What geth sends, and what the caller gets through the gateway. */
  readonly direct: string
  readonly behind: string
}

/**
 * Sends the requests of conversations to a geth, and through a gateway to another one with the same chain. All are sent twice, because the second time
 * the gateway has some responses in its cache.
 */
export const compareResponses = async (
  conversations: readonly Conversation[],
  { directUrl, behindUrl }: { directUrl: string; behindUrl: string },
): Promise<ComparedResponse[]> => {
  const { text } = await post(directUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}')
  const chainId = Number((JSON.parse(text) as { readonly result: string }).result)
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: [] },
    {
      networks: { testnet: { chainId, upstreams: [{ url: behindUrl }] } },
      services: { debug: true, trace: true, txpool: true },
    },
  )
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  const compared: ComparedResponse[] = []
  for (const round of [1, 2] as const)
    for (const { name, requests } of conversations)
      for (const request of requests) {
        // geth ends a response with a line break.
        const direct = (await post(directUrl, request)).text.trimEnd()
        compared.push({ name, round, direct, behind: (await post(rpcUrl, request)).text })
      }
  await gateway.close({ graceMs: 0 })
  return compared
}
