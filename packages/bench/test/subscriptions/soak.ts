import { parseArgs } from 'node:util'
import { openGeths } from './openGeths.ts'
import { runChaos } from './runChaos.ts'

// Subscribers that resume, through everything that happens to a service. Options: `--blocks N`, `--seed N`, `--nodes ws|http` for one kind of nodes
// only, `--geth PATH_OF_BINARY` for real geths, which are reorganized by the engine API. Exits with 1 if a subscriber does not have exactly the chain.
const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    nodes: { type: 'string' },
    geth: { type: 'string' },
  },
})
const [blocks, seed] = [Number(values.blocks), Number(values.seed)]
if (!Number.isInteger(blocks) || blocks < 40) throw new Error('--blocks must be an integer of 40 or more')
if (!Number.isInteger(seed)) throw new Error('--seed must be an integer')
const kinds = ['ws', 'http'].filter((kind) => values.nodes === undefined || values.nodes === kind)
if (kinds.length === 0) throw new Error('--nodes must be ws or http')

const { geth } = values

const print = (text: string): void => void process.stdout.write(`${text}\n`)
for (const kind of kinds) {
  print(
    `${blocks} blocks, nodes with ${kind === 'ws' ? 'WebSocket and HTTP' : 'HTTP only'}, --seed ${seed} --nodes ${kind}`,
  )
  const { problems, figures } = await runChaos({
    blocks,
    reorgs: Math.max(3, Math.round(blocks * 0.03)),
    seed,
    withNodeSockets: kind === 'ws',
    ...(geth === undefined ? {} : { open: (random: () => number) => openGeths(geth, random) }),
    onProgress: (text) => print(`  ${text}`),
  })
  for (const [name, value] of Object.entries(figures)) print(`  ${name.padEnd(20)} ${value.toLocaleString('en')}`)
  print(problems.length === 0 ? '  Each subscriber has exactly the chain.' : `  WRONG: ${problems.length} problems`)
  for (const problem of problems.slice(0, 20)) print(`    ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
