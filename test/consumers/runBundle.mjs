// Runs a browser bundle with a fake fetch: node runBundle.mjs FILE RESULTS
const results = JSON.parse(process.argv[3])
globalThis.fetch = async (_input, { body }) => {
  const { id, method } = JSON.parse(body)
  return Response.json({ jsonrpc: '2.0', id, result: results[method] })
}
const { readLatest } = await import(process.argv[2])
console.log(JSON.stringify(await readLatest('https://node.example/testnet')))
