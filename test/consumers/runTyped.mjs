// Runs a compiled program: node runTyped.mjs FILE URL
const { readLatest } = await import(process.argv[2])
console.log(JSON.stringify(await readLatest(process.argv[3])))
