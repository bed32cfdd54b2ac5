import { snippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import type { SnippetLibrary, SnippetMethod } from '@keyrail/snippets'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readLocalChoice, storeLocalChoice } from '../control/localChoice.ts'
import { deploymentQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import type { NetworkView } from '../networks/searchNetworks.ts'
import { Card } from '../parts/Card.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Segments } from '../parts/Segments.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { TextField } from '../parts/TextField.tsx'
import { getRequestSteps } from '../run/exampleCalls.ts'
import { RunPanel } from '../run/RunPanel.tsx'
import { ProgramFigure } from './ProgramFigure.tsx'
import type { KeyHolder } from './useKeyHolder.ts'
import { getAddress, getUrl } from './endpointUrls.ts'
import { getInstallSteps } from './installSteps.ts'
import { readValues, valueFields } from './snippetValues.ts'
import type { TypedValues } from './snippetValues.ts'

const libraries = snippetLanguages.flatMap((language) => language.libraries)

/** An example call to choose, read, copy and run. The browser remembers the library. */
export function SnippetPanel(props: {
  readonly holder: KeyHolder
  readonly subject: KeySubject
  readonly network: NetworkView
  readonly requireJwt: boolean
}) {
  const { holder, subject, network, requireJwt } = props
  const { data: deployment } = useQuery(deploymentQuery)
  const [method, setMethod] = useState<SnippetMethod>('latestBlock')
  const [libraryId, setLibraryId] = useState(() => readLocalChoice('library'))
  const [withKeyrail, setWithKeyrail] = useState(() => readLocalChoice('package') === 'with')
  const [typed, setTyped] = useState<TypedValues>({})

  const library = libraries.find(({ id }) => id === libraryId) ?? libraries[0]
  const language = snippetLanguages.find(({ id }) => id === library?.language)
  if (language === undefined || library === undefined) return null
  const setLibrary = (id: SnippetLibrary | undefined): void => {
    if (id === undefined) return
    setLibraryId(id)
    storeLocalChoice('library', id)
  }

  const chosen = snippetMethods.find(({ id }) => id === method)
  const read = readValues(chosen?.values ?? [], typed)
  const steps = getRequestSteps(method, read.values)
  const program = snippet({
    method,
    library: library.id,
    withKeyrail: withKeyrail && library.keyrail !== undefined,
    address: getAddress(subject, network),
    symbol: network.symbol,
    values: read.values,
  })
  const installSteps =
    program.install === undefined ? [] : getInstallSteps(program.install, deployment?.publishedPackages ?? [])
  const title = chosen?.title ?? ''

  return (
    <Card
      title="Make a call"
      help="start"
      lead="A complete program, which reads the endpoint from the .env file. Copy it into a file and run it, or run its call on this page."
    >
      <div className="selects">
        <SelectField
          label="Method"
          name="method"
          value={method}
          onChange={setMethod}
          options={snippetMethods.map((one) => ({ value: one.id, title: one.title }))}
        />
        <SelectField
          label="Language"
          name="language"
          value={language.id}
          onChange={(id) => setLibrary(snippetLanguages.find((one) => one.id === id)?.libraries[0]?.id)}
          options={snippetLanguages.map((one) => ({ value: one.id, title: one.title }))}
        />
        <SelectField
          label="Library"
          name="library"
          value={library.id}
          onChange={setLibrary}
          options={language.libraries.map((one) => ({ value: one.id, title: one.title }))}
        />
      </div>
      {library.keyrail !== undefined && (
        <Segments
          legend="Package"
          name="package"
          value={withKeyrail ? 'with' : 'without'}
          onChange={(value) => {
            setWithKeyrail(value === 'with')
            storeLocalChoice('package', value)
          }}
          options={[
            { value: 'without', title: `${library.title} alone` },
            { value: 'with', title: `with ${library.keyrail}` },
          ]}
        />
      )}
      {chosen?.values.map((name) => (
        <TextField
          key={name}
          label={valueFields[name].label}
          name={name}
          mono
          optional
          value={typed[name] ?? ''}
          onChange={(value) => setTyped((before) => ({ ...before, [name]: value }))}
          placeholder={valueFields[name].placeholder}
          fix={read.fixes[name]}
          hint={valueFields[name].hint}
        />
      ))}
      <ProgramFigure label={`${title}, ${language.title}, ${library.title}`} language={language.id} program={program} />
      {steps === undefined ? (
        <p className="small soft">
          {method === 'subscribeBlocks'
            ? 'This page cannot run it, because subscriptions need a WebSocket. Run the program.'
            : 'This page cannot run it, because it has no key to sign with. Run the program.'}
        </p>
      ) : (
        <RunPanel
          holder={holder}
          subject={subject}
          toUrl={(apiKey) => getUrl(subject, network, apiKey)}
          steps={steps}
          stepsId={JSON.stringify([method, network.network, read.values])}
          requireJwt={requireJwt}
        />
      )}
      <ol className="stack tight small">
        <li>
          Save the <code>.env</code> file from above next to it.
          {program.environment.slice(2).map(({ name, what }) => (
            <span key={name}>
              {' '}
              Add <code>{name}</code>: {what}.
            </span>
          ))}
        </li>
        {installSteps.map(({ where, command }) => (
          <li className="row" key={command}>
            Install{where !== undefined && `, ${where}`}: <code className="break">{command}</code>
            <CopyButton
              what={`the command that installs${where === undefined ? '' : ` ${where}`}`}
              text={() => command}
            />
          </li>
        ))}
        <li className="row">
          Run{program.needs !== undefined && `, with ${program.needs}`}: <code className="break">{program.run}</code>
          <CopyButton key={program.run} what="the command that runs it" text={() => program.run} />
        </li>
      </ol>
    </Card>
  )
}
