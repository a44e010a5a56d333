/**
 * Tells a program that does not know a migration whether it can work with the schema: 1 if the migration only adds. A
 * migration without a mark may have taken something away.
 */
export const migrationCompatibility = `
alter table schema_migrations add column expands integer not null default 0;
`;
