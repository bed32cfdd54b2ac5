import type { GroupMember } from '../groupMember.ts'
import { queryUpstream } from '../queryUpstream.ts'

/** The clients of nodes with their versions, such as `Geth/v1.16.7-stable/linux-amd64/go1.25.1`. */
export interface NodeClients {
  /** Reads them. Does nothing if traces are not stored. */
  readonly read: () => Promise<void>
  /** Gets the client of a node, as it said when it was last read; `undefined` if it did not. */
  readonly get: (member: GroupMember) => string | undefined
  /** Gets the clients, each once. */
  readonly list: () => readonly string[]
}

const maxLength = 200

const readClient = async ({ upstream }: GroupMember, timeoutMs: number): Promise<string | undefined> => {
  const result = await queryUpstream(upstream, { method: 'web3_clientVersion', params: '[]' }, timeoutMs)
  if (typeof result === 'string' || result.member !== 'result' || result.value.length > maxLength) return undefined
  const client: unknown = JSON.parse(result.value.toString())
  return typeof client === 'string' && client !== '' ? client : undefined
}

/** Creates the clients of the nodes of a network, which are read for traces only. */
export const createNodeClients = (
  members: readonly GroupMember[],
  { traces, timeoutMs }: { readonly traces: boolean; readonly timeoutMs: number },
): NodeClients => {
  let clients: ReadonlyMap<GroupMember, string> = new Map()
  return {
    read: async () => {
      if (!traces) return
      const found = new Map<GroupMember, string>()
      const readOne = async (member: GroupMember): Promise<void> => {
        const client = await readClient(member, timeoutMs)
        if (client !== undefined) found.set(member, client)
      }
      await Promise.all(members.map(readOne))
      clients = found
    },
    get: (member) => clients.get(member),
    list: () => [...new Set(clients.values())],
  }
}
