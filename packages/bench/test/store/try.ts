import { measurePonder } from './measurePonder.ts'
import { toKeyrail, toErpc } from './openProxies.ts'
import { rmSync } from 'node:fs'
for (const e of ['', '-wal', '-shm']) rmSync('/tmp/try2-cache.db' + e, { force: true })
const open = process.argv[3] ? toErpc(process.argv[3]) : toKeyrail('/tmp/try2-cache.db')
let nodes: any
console.log(
  JSON.stringify(
    await measurePonder({
      open: async (n) => {
        nodes = n
        return open(n)
      },
      blocks: Number(process.argv[2]),
      seed: 1,
      onSync: (s) => {
        console.log(JSON.stringify(s))
        console.log(
          nodes
            .map((n: any) =>
              n.calls
                .filter((c: any) => c.method !== 'eth_chainId')
                .map((c: any) => c.method + JSON.stringify(c.params))
                .slice(-60)
                .join('\n'),
            )
            .join('\n----\n'),
        )
      },
    }),
  ),
)
