const { compose, deadline, http, retry } = require('@keyrail/core')
const { clientOf, createClient } = require('@keyrail/fetch')

async function main(url) {
  const client = createClient({ url })
  const block = await client.eth_getBlockByNumber('latest', false)
  client.close()

  const small = clientOf(compose(http({ url }), retry(), deadline()))
  const number = await small.eth_blockNumber()
  small.close()

  console.log(JSON.stringify({ number, hash: block.hash }))
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
