import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A compiled contract. */
export interface Compiled {
  readonly abi: readonly unknown[]
  /** The creation bytecode, without constructor arguments. */
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

/** The contracts. Each is in `src/`, in a file with its name. */
export const contractNames = ['Token', 'Reverts', 'ManyEvents', 'OffchainReader'] as const

const folder = join(import.meta.dirname, '..')

/** The copy of `Token` that `keyrail dev` deploys: published packages do not import this one. */
export const tokenCopy = join(folder, '../cli/src/node/tokenBytecode.ts')

/**
 * Compiles every contract in `src/`. The result is the same on every machine, because the bytecode contains no metadata hash.
 *
 * @throws If solc reports an error or a warning.
 */
export function compileContracts(): Record<(typeof contractNames)[number], Compiled> {
  // solc is a CommonJS module without types. It takes a second to load, so it is only loaded here.
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
      // Older than solc's default, so that every node can run the bytecode.
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
      if (!compiled) throw new Error(`src/${name}.sol contains no contract named ${name}`)
      return [name, { abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` }]
    }),
  ) as ReturnType<typeof compileContracts>
}

/** Writes the committed artifacts: a module for each contract, one JSON file for other languages, and the copy of `Token`. */
function writeArtifacts(): void {
  const compiled = compileContracts()
  const written = contractNames.map((name) => {
    const { abi, bytecode } = compiled[name]
    const variable = name[0]?.toLowerCase() + name.slice(1)
    const file = join(folder, 'artifacts', `${variable}.ts`)
    writeFileSync(
      file,
      `// Generated from src/${name}.sol by \`npm run compile\`.

/** The ABI of \`${name}\`. */
export const ${variable}Abi = ${JSON.stringify(abi)} as const

/** The creation bytecode of \`${name}\`. Append the encoded constructor arguments. */
export const ${variable}Bytecode: \`0x\${string}\` = '${bytecode}'
`,
    )
    return file
  })
  const json = join(folder, 'artifacts/artifacts.json')
  writeFileSync(json, JSON.stringify(compiled))
  writeFileSync(
    tokenCopy,
    `// Generated from packages/contracts/src/Token.sol by \`npm run compile\`.

/** The creation bytecode of the example token, an ERC-20. Append the encoded constructor arguments. */
export const tokenBytecode = '${compiled.Token.bytecode}'
`,
  )
  // Formatted, so that the format check passes.
  const oxfmt = join(dirname(createRequire(import.meta.url).resolve('oxfmt/package.json')), 'bin/oxfmt')
  execFileSync(process.execPath, [oxfmt, ...written, json, tokenCopy], { cwd: join(folder, '../..'), stdio: 'inherit' })
}

if (import.meta.main) writeArtifacts()
