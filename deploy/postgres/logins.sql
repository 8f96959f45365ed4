-- The logins of mnemic, made once for a new database: `mnemic_owner` makes and migrates the schema, `memories` works with it and
-- is bound by row-level security. Nothing logs in as a superuser. The image of PostgreSQL runs this with psql.
\getenv app_password MEMORIES_PASSWORD
\getenv owner_password OWNER_PASSWORD

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE ROLE mnemic_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
CREATE ROLE mnemic_owner LOGIN NOSUPERUSER NOBYPASSRLS CREATEROLE PASSWORD :'owner_password' IN ROLE mnemic_app;
CREATE ROLE memories LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'app_password' IN ROLE mnemic_app;
SELECT format('GRANT CREATE ON DATABASE %I TO mnemic_owner', current_database()) \gexec
