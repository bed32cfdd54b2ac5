import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CreateError } from './createError.ts'
import type { Endpoint } from './readEndpoint.ts'
import type { Template } from './templates.ts'

/** A project to create with {@link createProject}. */
export interface ProjectPlan {
  /** The folder of the project. */
  readonly path: string
  readonly template: Template
  readonly endpoint: Endpoint
  /** The version of the packages. */
  readonly version: string
  /** A folder with packed packages, to use instead of the registry. */
  readonly packages?: string | undefined
}

interface Manifest {
  name: string
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

const templatesFolder = fileURLToPath(new URL('../templates', import.meta.url))

/** The chain id of the network `testnet` of `keyrail dev`. */
const localChainId = 1_952_805_748

/** Creates the folder. @throws {CreateError} if it exists and is not empty. */
function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    if (readdirSync(path).every((name) => name === '.git')) return
  } catch (error) {
    throw new CreateError(
      `cannot create ${path}: ${error instanceof Error ? error.message : String(error)}`,
      'use a folder that you can write to',
    )
  }
  throw new CreateError(`${path} is not empty`, 'use a new folder: no file is ever overwritten')
}

/** Finds the tarball of a package: `keyrail-core-1.2.3.tgz`. */
function findTarball(folder: string, name: string): string {
  const [file] = globSync(`${name.replace('@', '').replace('/', '-')}-[0-9]*.tgz`, { cwd: folder })
  if (file !== undefined) return `file:${join(resolve(folder), file)}`
  throw new CreateError(
    `the folder of --packages, ${resolve(folder)}, has no package ${name}`,
    `in the repository of Keyrail: npm run pack -- ${resolve(folder)} ${name}`,
  )
}

/** Sets the name, and where the packages of Keyrail come from. */
function completeManifest(manifest: Manifest, { path, version, packages }: ProjectPlan): Manifest {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^\da-z._-]+/g, '-')
    .replace(/^[._-]+/, '')
  const getSource = (dependency: string): string =>
    packages === undefined ? `^${version}` : findTarball(packages, dependency)
  for (const group of [manifest.dependencies ?? {}, manifest.devDependencies ?? {}]) {
    for (const dependency of Object.keys(group)) {
      if (dependency.startsWith('@keyrail/')) group[dependency] = getSource(dependency)
    }
  }
  return { ...manifest, name: name === '' ? 'keyrail-app' : name }
}

/**
 * Creates a project from a template, with an env file that contains the endpoint.
 *
 * @param plan - What to create.
 * @throws {CreateError} if the folder is not empty or cannot be written, or a packed package is missing. Nothing is overwritten.
 */
export function createProject(plan: ProjectPlan): void {
  const { path, template, endpoint } = plan
  const source = join(templatesFolder, template.name)
  const manifest = completeManifest(JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest, plan)
  createFolder(path)
  cpSync(source, path, { recursive: true, force: false, errorOnExist: true })
  // npm does not pack files with this name.
  renameSync(join(path, '_gitignore'), join(path, '.gitignore'))
  writeFileSync(join(path, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  const { envPrefix, envFile, envLines = [] } = template
  const lines = [
    `${envPrefix}KEYRAIL_BASE_URL=${endpoint.baseUrl}`,
    `${envPrefix}KEYRAIL_API_KEY=${endpoint.apiKey}`,
    `${envPrefix}KEYRAIL_CHAIN_ID=${localChainId}`,
    ...envLines,
  ]
  writeFileSync(join(path, envFile), `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' })
}
