import { z } from 'zod'
import { memberRoles } from '../storage/tables.ts'
import { flag, must, object, path, text } from '../proxy/options/fields.ts'

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Whether a URL can be an issuer: https, or a provider on this machine. */
const isIssuer = (given: string): boolean => {
  const url = URL.parse(given)
  if (url === null || `${url.search}${url.hash}${url.username}${url.password}` !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.includes(url.hostname))
}

const issuerMessage =
  'must be the https URL of the provider, such as "https://id.example.org", without a query. http works only for a provider on this machine'

/** The schema of `oidc`. */
export const oidc = object({
  issuer: z
    .string(must(issuerMessage))
    .refine((given) => isIssuer(given), issuerMessage)
    // Where the metadata of a provider is, as some of them print it.
    .refine((given) => !given.includes('/.well-known/'), 'must end before /.well-known/')
    .describe(
      'The issuer URL of the OpenID Connect provider. Its metadata is at `{issuer}/.well-known/openid-configuration`. It must use https, except on this machine.',
    ),
  clientId: text('must be the client id that the provider has given to this service', 500).describe(
    'The client id that the provider gave you.',
  ),
  clientSecretFile: path('a file that holds the client secret')
    .exactOptional()
    .describe('The path of a file that holds the client secret. One of these three is required.'),
  clientSecretEnv: text('must be the name of an environment variable that holds the client secret')
    .exactOptional()
    .describe('The name of an environment variable that holds the client secret.'),
  clientSecret: text('must be the client secret that the provider has given to this service', 2_000)
    .exactOptional()
    .describe('The client secret.'),
  scopes: z
    .array(
      text('must be a scope, such as "email"').regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope without spaces'),
      must('must be a list of scopes, such as ["openid", "email"]'),
    )
    .readonly()
    .refine((scopes) => scopes.includes('openid'), 'must include "openid"')
    .default(['openid', 'email'])
    .describe('The scopes that the service requests.'),
  trustEmail: flag()
    .default(false)
    .describe(
      "Whether an email address counts as verified if the provider doesn't say whether it is. Only for a provider that verifies all addresses.",
    ),
  groupsClaim: text('must be the name of a claim, such as "groups"', 100)
    .default('groups')
    .describe("The claim of the ID token, or of the userinfo endpoint, that has the user's groups."),
  groups: z
    .array(
      object({
        group: text('must be the name of a group, as the provider sends it', 200).describe('A group of the provider.'),
        account: text('must be the id of a team')
          .regex(/^acc_[0-9a-z]{20}$/, 'must be the id of a team, such as "acc_" and 20 characters')
          .describe('The id of a team.'),
        role: z
          .enum(memberRoles, must(`must be one of ${memberRoles.join(', ')}`))
          .describe('The role that members of the group have in the team.'),
      }),
      must('must be a list of { group, account, role }'),
    )
    .readonly()
    .default([])
    .describe(
      'Roles in teams that groups of the provider give. Each log-in sets them, and takes away those of groups that the user has left. Roles of members who were invited stay.',
    ),
  label: text('must be the name of the provider, such as "Example Inc."', 40)
    .default('single sign-on')
    .describe("The provider's name on the button of the log-in page."),
}).refine(
  ({ clientSecret, clientSecretEnv, clientSecretFile }) =>
    [clientSecret, clientSecretEnv, clientSecretFile].filter((given) => given !== undefined).length === 1,
  'must have exactly one of clientSecret, clientSecretEnv and clientSecretFile',
)
