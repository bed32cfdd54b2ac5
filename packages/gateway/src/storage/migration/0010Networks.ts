import type { Migration } from './migration.ts'

/** Networks of any name in place of two. */
export const networks: Migration = {
  version: 10,
  statements: () => [
    `alter table apps add column networks text not null default '[]'`,
    `update apps set networks = case
      when testnet = 1 and mainnet = 1 then '["testnet","mainnet"]'
      when testnet = 1 then '["testnet"]'
      when mainnet = 1 then '["mainnet"]'
      else '[]' end`,
    'alter table apps drop column testnet',
    'alter table apps drop column mainnet',
    'alter table keys add column network text',
    "update keys set network = kind where kind <> 'app'",
  ],
}
