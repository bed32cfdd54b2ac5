import { createClient, subscribe } from '@keyrail/fetch'
import { getEndpoint } from '../endpoint.ts'

const client = createClient(getEndpoint())
const blocks = subscribe(
  client,
  { blocks: { transactions: 'hashes' } },
  {
    fromBlock: 'latest',
    onError: ({ error, waitMs }) => console.error(`${error.message}; retrying in ${Math.round(waitMs)} ms`),
  },
)
process.once('SIGINT', () => void blocks.return())

for await (const event of blocks) {
  if (event.type === 'block') {
    console.log(
      `Block ${event.block.number} with ${event.block.transactions.length} transactions is ${event.block.hash}`,
    )
  } else {
    // Undo your work on these blocks. Their replacements follow.
    for (const { number, hash } of event.removed) console.log(`Block ${number} is no longer ${hash}`)
  }
}
client.close()
