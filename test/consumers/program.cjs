const { createTransport } = require('@keyrail/core')
const { createClient } = require('@keyrail/fetch')

async function main(url) {
  const client = createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  client.close()

  const transport = createTransport({ url })
  const number = await createClient(transport).eth_blockNumber()
  transport.close()

  console.log(JSON.stringify({ number, hash: block.hash }))
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
