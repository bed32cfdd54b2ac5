import { snippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import type { SnippetAddress, SnippetLanguage, SnippetLibrary, SnippetMethod } from '@keyrail/snippets'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
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
import { canShowKey } from './useKeyHolder.ts'
import type { KeyHolder } from './useKeyHolder.ts'
import { getInstallSteps } from './installSteps.ts'
import { readValues, valueFields } from './snippetValues.ts'
import type { TypedValues } from './snippetValues.ts'

/** A network's title, with its name if another network has the same title. */
const getUniqueTitle = ({ title, network }: NetworkView, networks: readonly NetworkView[]): string =>
  networks.some((other) => other.title === title && other.network !== network) ? `${title} (${network})` : title

/** An example call to choose, read, copy and run. Its key is masked until the user reveals it. */
export function SnippetPanel(props: {
  readonly holder: KeyHolder
  /** Whether the key is an app's or an API key: their URLs differ. */
  readonly subject: KeySubject
  readonly networks: readonly NetworkView[]
  /** Whether calls need a JWT. @default false */
  readonly requireJwt?: boolean
}) {
  const { holder, subject, networks, requireJwt = false } = props
  const { data: deployment } = useQuery(deploymentQuery)
  const [method, setMethod] = useState<SnippetMethod>('latestBlock')
  const [languageId, setLanguage] = useState<SnippetLanguage>('javascript')
  const [libraryId, setLibrary] = useState<SnippetLibrary>('ethers')
  const [withKeyrail, setWithKeyrail] = useState(false)
  const [network, setNetwork] = useState(networks[0]?.network)
  const [typed, setTyped] = useState<TypedValues>({})

  const language = snippetLanguages.find(({ id }) => id === languageId) ?? snippetLanguages[0]
  const library = language?.libraries.find(({ id }) => id === libraryId) ?? language?.libraries[0]
  const chosenNetwork = networks.find((one) => one.network === network) ?? networks[0]
  if (language === undefined || library === undefined || chosenNetwork === undefined) return null
  const { url } = chosenNetwork

  const chosen = snippetMethods.find(({ id }) => id === method)
  const read = readValues(chosen?.values ?? [], typed)
  const address: SnippetAddress = 'appId' in subject ? { baseUrl: url } : { rpcUrl: url }
  const toUrl = (apiKey: string): string => `${url}${'appId' in subject ? '/v2' : ''}/${apiKey}`
  const steps = getRequestSteps(method, read.values)
  const programWith = (apiKey: string | undefined) =>
    snippet({
      method,
      language: language.id,
      library: library.id,
      withKeyrail: withKeyrail && library.keyrail !== undefined,
      address,
      symbol: chosenNetwork.symbol,
      values: read.values,
      ...(apiKey !== undefined && { apiKey }),
    })
  const shown = programWith(canShowKey(holder) ? holder.masked : undefined)
  const installSteps =
    shown.install === undefined ? [] : getInstallSteps(shown.install, deployment?.publishedPackages ?? [])
  const title = chosen?.title ?? ''

  return (
    <Card
      title="Make a call"
      help="snippets"
      lead="A complete program. Copy it into a file and run it, or run its call on this page."
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
          onChange={setLanguage}
          options={snippetLanguages.map((one) => ({ value: one.id, title: one.title }))}
        />
        <SelectField
          label="Library"
          name="library"
          value={library.id}
          onChange={setLibrary}
          options={language.libraries.map((one) => ({ value: one.id, title: one.title }))}
        />
        {networks.length > 1 && (
          <SelectField
            label="Network"
            name="network"
            value={chosenNetwork.network}
            onChange={setNetwork}
            options={networks.map((one) => ({ value: one.network, title: getUniqueTitle(one, networks) }))}
          />
        )}
      </div>
      {library.keyrail !== undefined && (
        <Segments
          legend="Package"
          name="package"
          value={withKeyrail ? 'with' : 'without'}
          onChange={(value) => setWithKeyrail(value === 'with')}
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
      <ProgramFigure
        holder={holder}
        label={`${title}, ${language.title}, ${library.title}`}
        language={language.id}
        write={programWith}
      />
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
          toUrl={toUrl}
          steps={steps}
          stepsId={JSON.stringify([method, chosenNetwork.network, read.values])}
          requireJwt={requireJwt}
        />
      )}
      <ol className="stack tight small">
        {shown.environment.length > 0 && (
          <li>
            Set{' '}
            {shown.environment.map(({ name, what }, at) => (
              <span key={name}>
                {at > 0 && ' and '}
                <code>{name}</code> to {what}
              </span>
            ))}{' '}
            in the environment.
          </li>
        )}
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
          Run{shown.needs !== undefined && `, with ${shown.needs}`}: <code>{shown.run}</code>
          <CopyButton key={shown.run} what="the command that runs it" text={() => shown.run} />
        </li>
      </ol>
    </Card>
  )
}
