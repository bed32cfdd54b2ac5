import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** One contract, compiled. */
export interface Compiled {
  readonly abi: readonly unknown[]
  /** What deploys it, without the arguments of its constructor. */
  readonly bytecode: `0x${string}`
}

interface SolcOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts: Readonly<
    Record<
      string,
      Record<string, { readonly abi: readonly unknown[]; readonly evm: { readonly bytecode: { object: string } } }>
    >
  >
}

/** The contracts, each in the file of its name under `src/`. */
export const contractNames = ['Token', 'Reverts', 'ManyEvents', 'OffchainReader'] as const

const folder = join(import.meta.dirname, '..')

/**
 * Compiles every contract under `src/`, alike on every machine: the bytecode holds no hash of the sources' metadata.
 *
 * @throws where solc has a word to say, a warning included.
 */
export function compileContracts(): Record<(typeof contractNames)[number], Compiled> {
  // It is a CommonJS module without types, and takes a second to load: only whoever compiles pays it.
  const solc = createRequire(import.meta.url)('solc') as { readonly compile: (input: string) => string }
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      contractNames.map((name) => [
        `${name}.sol`,
        { content: readFileSync(join(folder, 'src', `${name}.sol`), 'utf8') },
      ]),
    ),
    settings: {
      // Older than what solc would choose, so that any node can run it.
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput
  if (output.errors) throw new Error(output.errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.fromEntries(
    contractNames.map((name) => {
      const compiled = output.contracts[`${name}.sol`]?.[name]
      if (!compiled) throw new Error(`src/${name}.sol holds no contract named ${name}`)
      return [name, { abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` }]
    }),
  ) as ReturnType<typeof compileContracts>
}

/** Writes what is committed: a module for each contract, and one file of JSON for what reads no TypeScript. */
function writeArtifacts(): void {
  const compiled = compileContracts()
  const written = contractNames.map((name) => {
    const { abi, bytecode } = compiled[name]
    const word = name[0]?.toLowerCase() + name.slice(1)
    const file = join(folder, 'artifacts', `${word}.ts`)
    writeFileSync(
      file,
      `// Made from src/${name}.sol by \`npm run compile\`.

/** The ABI of \`${name}\`. */
export const ${word}Abi = ${JSON.stringify(abi)} as const

/** What deploys \`${name}\`, followed by its encoded arguments. */
export const ${word}Bytecode: \`0x\${string}\` = '${bytecode}'
`,
    )
    return file
  })
  const json = join(folder, 'artifacts/artifacts.json')
  writeFileSync(json, JSON.stringify(compiled))
  // Formatted like all else here, so that the check of the format has nothing to say of them.
  const oxfmt = join(dirname(createRequire(import.meta.url).resolve('oxfmt/package.json')), 'bin/oxfmt')
  execFileSync(process.execPath, [oxfmt, ...written, json], { cwd: join(folder, '../..'), stdio: 'inherit' })
}

if (import.meta.main) writeArtifacts()
