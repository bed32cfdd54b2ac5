// Runs a browser bundle where nothing but fetch reaches outside: node runBundle.mjs FILE ANSWERS
const answers = JSON.parse(process.argv[3])
globalThis.fetch = async (_input, { body }) => {
  const { id, method } = JSON.parse(body)
  return Response.json({ jsonrpc: '2.0', id, result: answers[method] })
}
const { readLatest } = await import(process.argv[2])
console.log(JSON.stringify(await readLatest('https://node.example/testnet')))
