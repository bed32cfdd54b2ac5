import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findCommandProblems } from './findCommandProblems.ts'
import { top } from './run.ts'
import { nodes } from './toolchains.ts'

// Workflows only run on GitHub, so these tests check what can be checked without running them.

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly needs?: string | readonly string[]
  readonly uses?: string
  readonly environment?: string
  readonly container?: string
  readonly outputs?: Readonly<Record<string, string>>
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> }
  readonly steps?: readonly Step[]
  readonly 'timeout-minutes'?: number
}

interface Workflow {
  readonly name: string
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

/** The write permissions of each job. Discuss any addition in review. */
const mayWrite: Readonly<Record<string, readonly string[]>> = {
  'codeql.yml analyze': ['security-events'],
  'measure.yml record': ['contents'],
  'release.yml propose': ['contents', 'pull-requests'],
  'release.yml npm': ['id-token'],
  'release.yml pypi': ['id-token'],
  'release.yml tag': ['contents'],
}

/**
 * Every command line and action of the jobs with write permissions. These jobs do not install or build, because the script of a dependency or a
 * plugin of the build would have the job's permissions. Published files come from jobs with read permissions.
 */
const privileged: Readonly<Record<string, { readonly lines: readonly string[]; readonly actions: readonly string[] }>> =
  {
    'codeql.yml analyze': {
      lines: [],
      actions: ['actions/checkout', 'github/codeql-action/init', 'github/codeql-action/analyze'],
    },
    'measure.yml record': {
      lines: [
        'git fetch origin measurements && git switch measurements || git switch --orphan measurements',
        'folder="$(date -u +%Y-%m-%d)-${GITHUB_SHA::7}"',
        'mkdir -p "$folder" && cp "$RESULTS"/*.txt "$folder/"',
        'git add "$folder"',
        'git config user.name "github-actions[bot]"',
        'git config user.email "41898282+github-actions[bot]@users.noreply.github.com"',
        'git commit --message "chore: measurements of ${GITHUB_SHA::7}"',
        'git push origin measurements',
      ],
      actions: ['actions/checkout', 'actions/download-artifact'],
    },
    'release.yml propose': {
      lines: [
        'git config user.name "github-actions[bot]"',
        'git config user.email "41898282+github-actions[bot]@users.noreply.github.com"',
        'git switch --force-create release/next',
        'git apply --index "$RUNNER_TEMP/release.patch"',
        'git commit --message "Release"',
        'git push --force origin release/next',
        'if [ "$(gh pr list --head release/next --state open --json number --jq length)" = 0 ]; then',
        'gh pr create --base main --head release/next --title "Release" \\',
        '--body "Merging this publishes the npm packages and the Python package. It follows main until then."',
        'fi',
      ],
      actions: ['actions/checkout', 'actions/download-artifact'],
    },
    'release.yml npm': {
      lines: ['test "$(sha256sum -- *)" = "$SUMS"', 'node scripts/releasePublish.ts "$RUNNER_TEMP/packages"'],
      actions: ['actions/checkout', 'actions/setup-node', 'actions/download-artifact'],
    },
    'release.yml pypi': {
      lines: ['test "$(sha256sum -- *)" = "$SUMS"'],
      actions: ['actions/download-artifact', 'pypa/gh-action-pypi-publish'],
    },
    'release.yml tag': {
      lines: ['gh release create "v$VERSION" --target "$GITHUB_SHA" --title "v$VERSION" --generate-notes'],
      actions: [],
    },
  }

const folder = join(top, '.github/workflows')
const workflows = globSync('*.yml', { cwd: folder })
  .sort()
  .map((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return { file, text, workflow: parse(text) as Workflow }
  })
const jobs = workflows.flatMap(({ file, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ job, where: `${file} ${name}`, siblings: workflow.jobs })),
)
const { scripts } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { scripts: object }

test('there are five workflows', () => {
  expect(workflows.map(({ file }) => file)).toEqual(['ci.yml', 'codeql.yml', 'measure.yml', 'osv.yml', 'release.yml'])
})

describe.each(workflows)('$file', ({ file, text, workflow }) => {
  test('pins every action to a commit, and names its version next to it', () => {
    // A tag can be moved to another commit by anyone who takes over the action; a commit cannot.
    const lines = text.split('\n').filter((line) => /\buses:/.test(line))
    expect(lines.length).toBeGreaterThan(0)
    const own = /^\s+uses: \.\/\.github\/workflows\/\w+\.yml$/
    const pinned = /^\s+- uses: [\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    expect(lines.filter((line) => !own.test(line) && !pinned.test(line))).toEqual([])
    const used = Object.values(workflow.jobs).flatMap(({ uses, steps = [] }) => [
      uses,
      ...steps.map((step) => step.uses),
    ])
    expect(lines.length, file).toBe(used.filter((action) => action !== undefined).length)
  })

  test('has only read permissions, and no secrets', () => {
    expect(Object.values(workflow.permissions).filter((right) => right !== 'read')).toEqual([])
    expect(text).not.toContain('secrets.')
  })
})

describe.each(jobs)('$where', ({ job, where, siblings }) => {
  const steps = job.steps ?? []
  const runs = steps.map(({ run }) => run ?? '')

  test('runs commands, scripts and tests that exist', () => {
    const known = {
      scripts: Object.keys(scripts),
      packages: [],
      programs: [],
      keyrailHelp: () => undefined,
      exists: (path: string) => existsSync(join(top, path)),
    }
    const named = (job.strategy?.matrix['script'] ?? []).map(String)
    const shells = runs.flatMap((shell) =>
      shell.includes('$SCRIPT') ? named.map((script) => shell.replaceAll('$SCRIPT', script)) : [shell],
    )
    expect(shells.flatMap((shell) => findCommandProblems(shell, known))).toEqual([])
    const files = runs.flatMap((shell) => shell.match(/\btest\/\S+[.]ts\b/g) ?? [])
    expect(files.filter((file) => !existsSync(join(top, file)))).toEqual([])
    expect(job.uses === undefined || existsSync(join(top, job.uses))).toBe(true)
  })

  test('does not insert untrusted text into shell commands', () => {
    // GitHub inserts the name of a branch unescaped, so the name could contain commands.
    expect(runs.filter((shell) => shell.includes('${{'))).toEqual([])
  })

  test('has the listed write permissions, and an environment if it publishes', () => {
    const written = Object.entries(job.permissions ?? {}).filter(([, right]) => right === 'write')
    expect(written.map(([what]) => what).sort()).toEqual([...(mayWrite[where] ?? [])].sort())
    if (mayWrite[where]?.includes('id-token')) expect(job.environment).toBeDefined()
  })

  test('persists the credentials of a checkout only if it pushes', () => {
    const pushes = runs.some((shell) => shell.includes('git push'))
    for (const { with: given } of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')))
      expect(given?.['persist-credentials'] ?? true).toBe(pushes)
  })

  test.runIf(mayWrite[where])('runs only the listed commands and actions, and uses no cache', () => {
    const lines = runs.flatMap((shell) => shell.split('\n').map((line) => line.trim()))
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses.split('@', 1)[0]]))
    expect({ lines: lines.filter((line) => line !== ''), actions }).toEqual(privileged[where])
    expect(job.uses).toBeUndefined()
    // An earlier run of any branch can write to the cache.
    for (const { uses, with: given } of steps.filter(({ uses: one }) => one?.startsWith('actions/setup-node@')))
      expect([uses, given?.['package-manager-cache'], given?.['cache']]).toEqual([uses, false, undefined])
  })

  test('has a timeout, and needs only jobs that exist', () => {
    if (job.uses === undefined) expect(job['timeout-minutes']).toBeGreaterThan(0)
    expect([job.needs ?? []].flat().filter((name) => !(name in siblings))).toEqual([])
  })
})

test('CI runs npm test in the image of the Dockerfile, which has no other program that tests use', () => {
  const { container, steps = [] } = workflows.find(({ file }) => file === 'ci.yml')?.workflow.jobs['bare'] ?? {}
  const [, image] = /^FROM (node:\S+)/m.exec(readFileSync(join(top, 'Dockerfile'), 'utf8')) ?? []
  expect(container).toBe(image)
  expect(steps.find(({ run }) => run === 'npm test')?.env).toEqual({ KEYRAIL_TEST_BARE: '1' })
})

test('.ci/run runs npm test on a bare machine, before it installs anything', () => {
  const script = readFileSync(join(top, '.ci/run'), 'utf8')
  const order = [
    'KEYRAIL_TEST_BARE=1 PATH="$bare" npm test',
    'KEYRAIL_TEST_ALL=1',
    'npm run --silent programs',
    'npm run verify',
  ]
  const places = order.map((step) => script.indexOf(step))
  expect(places.every((place, at) => place > (places[at - 1] ?? 0))).toBe(true)
})

test('CI runs the packed SDK on every supported Node version', () => {
  const ci = workflows.find(({ file }) => file === 'ci.yml')?.workflow
  expect(ci?.jobs['sdk']?.strategy?.matrix['node']).toEqual(nodes.map(({ node }) => node))
})

test('CI tests every Python version of the classifiers, with each web3.py, and each operating system', () => {
  const pyproject = readFileSync(join(top, 'packages/python/pyproject.toml'), 'utf8')
  const versions = [...pyproject.matchAll(/"Programming Language :: Python :: (3\.\d+)"/g)].map(
    ([, version]) => version,
  )
  const ci = workflows.find(({ file }) => file === 'ci.yml')?.workflow
  const { python, web3, include = [] } = ci?.jobs['python']?.strategy?.matrix ?? {}
  expect(versions).toContain(/requires-python = ">=(.*)"/.exec(pyproject)?.[1])
  expect(python).toEqual(versions)
  expect(pyproject).toMatch(new RegExp(`"web3>=${web3?.[0] as number}[.\\d]*,<${(web3?.at(-1) as number) + 1}"`))
  expect(include.map((one) => (one as { os: string }).os)).toEqual(['macos-latest', 'windows-latest'])
})

test('every publishing job needs all of CI', () => {
  const release = workflows.find(({ file }) => file === 'release.yml')?.workflow.jobs ?? {}
  expect(release['check']?.uses).toBe('./.github/workflows/ci.yml')
  const getNeeds = (name: string): string[] =>
    [release[name]?.needs ?? []].flat().flatMap((other) => [other, ...getNeeds(other)])
  for (const name of ['npm', 'pypi', 'tag']) expect(getNeeds(name), name).toContain('check')
})

test.each([
  ['npm', 'packages'],
  ['pypi', 'python'],
])('%s publishes the files of the job %s, and checks their sums first', (name, builder) => {
  const release = workflows.find(({ file }) => file === 'release.yml')?.workflow.jobs ?? {}
  expect([release[name]?.needs].flat()).toContain(builder)
  expect(Object.values(release[builder]?.permissions ?? {})).toEqual(['read'])
  // The sums are an output of the job: an attacker who replaces the artifact cannot replace them.
  expect(release[builder]?.outputs).toEqual({ sums: '${{ steps.sums.outputs.sums }}' })
  const steps = release[name]?.steps ?? []
  const isCheck = ({ run, env }: Step): boolean =>
    run?.includes('sha256sum') === true && env?.['SUMS'] === `\${{ needs.${builder}.outputs.sums }}`
  const isUpload = ({ uses, run }: Step): boolean =>
    uses?.startsWith('pypa/gh-action-pypi-publish@') === true || run?.includes('releasePublish') === true
  expect(steps.findIndex(isCheck)).toBeGreaterThan(-1)
  expect(steps.findIndex(isUpload)).toBeGreaterThan(steps.findIndex(isCheck))
})

test('every downloaded artifact is uploaded in the same workflow', () => {
  for (const { workflow } of workflows) {
    const steps = Object.values(workflow.jobs).flatMap((job) => job.steps ?? [])
    const named = (action: string): unknown[] =>
      steps
        .filter(({ uses }) => uses?.startsWith(`${action}@`))
        .map(({ with: given }) => given?.['pattern'] ?? String(given?.['name']).replace(/\$\{\{.*\}\}/, '*'))
    expect(
      named('actions/download-artifact').filter((name) => !named('actions/upload-artifact').includes(name)),
    ).toEqual([])
  }
})

test('the workflow and the tests build the Python package with the same version of build', () => {
  const pattern = /\bbuild==([\d.]+)/
  const pyproject = readFileSync(join(top, 'packages/python/pyproject.toml'), 'utf8')
  const release = workflows.find(({ file }) => file === 'release.yml')?.text ?? ''
  expect(pattern.exec(release)?.[1]).toBe(pattern.exec(pyproject)?.[1] ?? 'no version')
})

const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: top }).filter((file) => basename(file) !== 'config.yml')

test.each(forms)('%s is a valid issue form without duplicate ids', (file) => {
  interface Question {
    readonly type: string
    readonly id?: string
    readonly attributes: Readonly<Record<string, unknown>>
  }
  const form = parse(readFileSync(join(top, file), 'utf8')) as {
    name: string
    description: string
    body: readonly Question[]
  }
  expect(form).toMatchObject({ name: expect.stringMatching(/./), description: expect.stringMatching(/./) })
  const questions = form.body.filter(({ type }) => type !== 'markdown')
  expect(questions.length).toBeGreaterThan(0)
  for (const { type, attributes } of questions) {
    expect(['textarea', 'input', 'dropdown', 'checkboxes']).toContain(type)
    expect(attributes['label']).toMatch(/./)
  }
  expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length)
})

test('Renovate proposes updates of packages, Python packages and actions, and its rules name files and dependencies that exist', () => {
  interface Rule {
    readonly matchDepNames?: readonly string[]
    readonly matchFileNames?: readonly string[]
  }
  const { extends: presets, packageRules } = JSON.parse(readFileSync(join(top, '.github/renovate.json'), 'utf8')) as {
    readonly extends: readonly string[]
    readonly packageRules: readonly Rule[]
  }
  // Actions are pinned to a commit, and base images to a digest, which its first run adds.
  expect(presets).toEqual(expect.arrayContaining(['helpers:pinGitHubActionDigestsToSemver', 'docker:pinDigests']))
  // Two bots would propose everything twice.
  expect(existsSync(join(top, '.github/dependabot.yml'))).toBe(false)
  const { devDependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { devDependencies: object }
  const names = packageRules.flatMap(({ matchDepNames = [] }) => matchDepNames)
  expect(names.filter((name) => !(name in devDependencies))).toEqual([])
  const files = packageRules.flatMap(({ matchFileNames = [] }) => matchFileNames)
  expect(files.filter((file) => !existsSync(join(top, file)))).toEqual([])
})

test('the scan for known vulnerabilities reads lock files that exist', () => {
  const osv = workflows.find(({ file }) => file === 'osv.yml')?.workflow
  const args = osv?.jobs['scan']?.steps?.map(({ with: given }) => given?.['scan-args']).join('\n') ?? ''
  const files = [...args.matchAll(/--lockfile=(\S+)/g)].map(([, file = '']) => file)
  expect(files).toEqual(['pnpm-lock.yaml', 'packages/python/requirements.txt'])
  expect(files.filter((file) => !existsSync(join(top, file)))).toEqual([])
})
