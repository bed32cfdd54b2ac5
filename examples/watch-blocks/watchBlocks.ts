import { createClient, watchBlocks } from '@keyrail/fetch'
import { address } from '../address.ts'

const client = createClient(address())
const blocks = watchBlocks(client, {
  onError: ({ error, waitMs }) => console.error(`${error.message}; looking again in ${Math.round(waitMs)} ms`),
})
process.once('SIGINT', () => void blocks.return())

for await (const event of blocks) {
  if (event.type === 'block') {
    console.log(
      `Block ${event.block.number} with ${event.block.transactions.length} transactions is ${event.block.hash}`,
    )
  } else {
    // What was made of these blocks has to be undone. Those in their place follow.
    for (const { number, hash } of event.removed) console.log(`Block ${number} is no longer ${hash}`)
  }
}
client.close()
