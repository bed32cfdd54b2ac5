// The import rules of the workspace, from the table in scripts/arrows.ts. To check them alone: npx depcruise packages examples
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { arrows, planes, proxyFolders } = require('./scripts/arrows.ts')

const tests = '[.](test|test-d|bench)[.]tsx?$|^packages/[^/]+/test/'
const literally = (path) => path.replaceAll('.', '[.]')
const anyOf = (folders) => `^packages/(${folders.join('|') || '(?!)'})/`
const shipped = (folder) => ({ path: `^packages/${folder}/`, pathNot: [tests, '[.]config[.]ts$'] })

// The entry points of the packages: the files in `exports` under the source condition, where `*` also matches folders.
const entryPoints = readdirSync(`${__dirname}/packages`).flatMap((folder) => {
  const manifest = `${__dirname}/packages/${folder}/package.json`
  if (!existsSync(manifest)) return []
  return Object.values(JSON.parse(readFileSync(manifest, 'utf8')).exports ?? {})
    .map((target) => (typeof target === 'string' ? target : (target['@keyrail/source'] ?? '')))
    .filter((target) => target !== '')
    .map((target) => `^packages/${folder}/${literally(target.slice(2)).replace('*', '.+')}$`)
})

const perPackage = Object.entries(arrows).flatMap(([folder, may]) => [
  {
    name: `arrow:${folder}`,
    severity: 'error',
    comment: `shipped code of ${folder} may import ${may.imports.join(', ') || 'no package of ours'}`,
    from: shipped(folder),
    to: { path: '^packages/', pathNot: anyOf([folder, ...may.imports]) },
  },
  {
    name: `test-arrow:${folder}`,
    severity: 'error',
    comment: `tests of ${folder} may import ${[...may.imports, ...may.inTests].join(', ') || 'no package of ours'}`,
    from: { path: `^packages/${folder}/.*(${tests})|^packages/${folder}/test/` },
    to: { path: '^packages/', pathNot: anyOf([folder, ...may.imports, ...may.inTests]) },
  },
  ...(may.typesOnly ?? []).map((other) => ({
    name: `types-only:${folder}`,
    severity: 'error',
    comment: `${folder} may import types of ${other}, nothing that runs`,
    from: shipped(folder),
    to: { path: anyOf([other]), dependencyTypesNot: ['type-only'] },
  })),
  ...(may.nodeModules === 'anywhere'
    ? []
    : [
        {
          name: `node-modules:${folder}`,
          severity: 'error',
          comment: `${folder} runs in browsers: Node's own modules ${may.nodeModules === 'nowhere' ? 'nowhere' : 'in *.node.ts only'}`,
          from:
            may.nodeModules === 'nowhere'
              ? shipped(folder)
              : { ...shipped(folder), pathNot: [...shipped(folder).pathNot, '[.]node[.]ts$'] },
          to: { dependencyTypes: ['core'] },
        },
      ]),
])

const inOrder = (folders, { name, within, others }) =>
  folders.map((folder, place) => ({
    name: `${name}:${folder}`,
    severity: 'error',
    comment: `${folder} may import ${folders.slice(0, place).join(', ') || 'no other folder here'}`,
    from: { path: `^${within}/${folder}/`, pathNot: tests },
    to: { path: `^${within}/${others}`, pathNot: `^${within}/(${folders.slice(0, place + 1).join('|')})/` },
  }))
const perPlane = [
  ...inOrder(planes, { name: 'plane', within: 'packages/gateway/src', others: '' }),
  // The files beside these folders have types that all of them use.
  ...inOrder(proxyFolders, { name: 'proxy', within: 'packages/gateway/src/proxy', others: '[^/]+/' }),
]

module.exports = {
  forbidden: [
    {
      name: 'no-loop',
      severity: 'error',
      comment: 'no loops between imports, including type imports and packages',
      from: {},
      to: { circular: true },
    },
    {
      name: 'run-calls',
      severity: 'error',
      comment: 'the steps of a request reach the nodes by runCalls only',
      from: { path: '^packages/gateway/src/proxy/request/', pathNot: tests },
      to: {
        path: '^packages/gateway/src/proxy/upstream/',
        // How a call ended is read without a node.
        pathNot: '/(runCalls|classifyFailure|callResult)[.]ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'entry-points',
      severity: 'error',
      comment: 'import other packages through the entry points in their `exports`, never through other files',
      from: { path: '^packages/([^/]+)/' },
      to: { path: '^packages/', pathNot: ['^packages/$1/', ...entryPoints] },
    },
    {
      name: 'only-by-name',
      severity: 'error',
      comment: 'a relative import stays in its package: import other packages by name',
      from: { path: '^packages/([^/]+)/' },
      // They belong to no package, because several packages use them in tests.
      to: { dependencyTypes: ['local'], pathNot: ['^packages/$1/', '^scripts/(setUpPython|externalPrograms)[.]ts$'] },
    },
    {
      name: 'test-code',
      severity: 'error',
      comment: 'shipped code does not import test code',
      from: { path: '^packages/', pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'node-file',
      severity: 'error',
      comment:
        'import a *.node.ts file through the `imports` map or from another such file, so that no browser bundle contains it',
      from: { path: '^packages/', pathNot: ['[.]node[.]ts$', tests] },
      to: { path: '^packages/.*[.]node[.]ts$', dependencyTypesNot: ['aliased-subpath-import'] },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'every import resolves',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      severity: 'error',
      comment: 'every import is listed in the package.json of the importing package',
      from: { path: '^packages/', pathNot: '[.]config[.]ts$|[.](test|test-d|bench)[.]tsx?$|^packages/[^/]+/test/' },
      // Our own packages are excluded: findManifestProblems checks them. A peer is also a dev dependency, for the tests.
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm-peer'],
        pathNot: '^packages/',
      },
    },
    ...perPackage,
    ...perPlane,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The command's folder has a copy of the built dashboard. Templates are projects of their own, and not a part of the package.
    exclude: {
      path: '(^|/)dist/|^packages/cli/dashboard/|^packages/create-keyrail/templates/|^packages/cli/test/clients/',
    },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@keyrail/source', 'import', 'types', 'node', 'default'],
    },
  },
}
