"""ClickBench: its 43 queries (clickbench.sql) on a synthetic table of its schema.

The real table is 100 million page views of a web analytics service. Here sessions of five views have a user, who determines address,
region, browser and phone; users, sites, pages and search phrases follow power laws with about as many distinct values per row as
there; rows are sorted by site and day. Most text is empty or Cyrillic. The values that queries look for occur."""

from tests.support import duckdb_oracle
from tools.bench.suites.query_suite import Query, Suite
from tools.data_folder import ROOT, ensure_folder

STATEMENTS = ROOT / "tools/bench/suites/clickbench.sql"
# These leave open which rows come first, and do not return what they are sorted by.
CHECKED = {"q25": ("ORDER BY EventTime LIMIT", "ORDER BY EventTime, SearchPhrase LIMIT")}
COUNTERS, FIRST_COUNTER = 6500, 59
STEPS = 2**40  # of a random number between 0 and 1
WORDS = ("новости купить отзывы онлайн бесплатно скачать фото смотреть погода москва карта форум игры авто цена ремонт работа дом видео музыка "
         "фильм книга рецепт магазин одежда телефон рыба лето дача окно стол ключ город река школа банк кредит билет поезд самолет").split()
HOSTS = "http://site http://www.shop https://news http://forum. http://video https://m. http://auto".split()
# Columns that no query reads, or only as a filter that nearly all rows pass.
SMALL = {"JavaEnable": 2, "GoodEvent": 1, "CounterClass": 3, "RefererCategoryID": 9, "URLCategoryID": 12, "FlashMajor": 12, "FlashMinor": 8, "NetMajor": 5,
         "NetMinor": 2, "CookieEnable": 2, "JavascriptEnable": 2, "IsArtifical": 2, "ClientTimeZone": 24, "SilverlightVersion1": 6, "SilverlightVersion2": 2,
         "SilverlightVersion4": 2, "IsNotBounce": 2, "IsOldCounter": 2, "IsEvent": 2, "IsParameter": 2, "WithHash": 2, "Age": 60, "Sex": 3, "Income": 4,
         "Interests": 9000, "Robotness": 5, "HistoryLength": 100, "HTTPError": 2, "SocialSourceNetworkID": 3, "ParamCurrencyID": 3, "HasGCLID": 2}
WIDE = {"RefererRegionID": 900, "URLRegionID": 900, "IPNetworkID": 4_000_000, "SilverlightVersion3": 60000, "CodeVersion": 2000, "RemoteIP": 2_000_000_000,
        "HID": 1_000_000_000, "WindowName": 40000, "OpenerName": 40000, "SendTiming": 3000, "DNSTiming": 300, "ConnectTiming": 400, "ResponseStartTiming": 3000,
        "ResponseEndTiming": 4000, "FetchTiming": 5000, "CLID": 700}
EMPTY = ("FlashMinor2 Params OriginalURL SocialNetwork SocialAction SocialSourcePage ParamOrderID OpenstatServiceName OpenstatCampaignID OpenstatAdID "
         "OpenstatSourceID UTMSource UTMMedium UTMCampaign UTMContent UTMTerm FromTag").split()
# In the order of the published schema.
COLUMNS = """WatchID JavaEnable Title GoodEvent EventTime EventDate CounterID ClientIP RegionID UserID CounterClass OS UserAgent URL Referer IsRefresh
RefererCategoryID RefererRegionID URLCategoryID URLRegionID ResolutionWidth ResolutionHeight ResolutionDepth FlashMajor FlashMinor FlashMinor2 NetMajor NetMinor
UserAgentMajor UserAgentMinor CookieEnable JavascriptEnable IsMobile MobilePhone MobilePhoneModel Params IPNetworkID TraficSourceID SearchEngineID SearchPhrase
AdvEngineID IsArtifical WindowClientWidth WindowClientHeight ClientTimeZone ClientEventTime SilverlightVersion1 SilverlightVersion2 SilverlightVersion3
SilverlightVersion4 PageCharset CodeVersion IsLink IsDownload IsNotBounce FUniqID OriginalURL HID IsOldCounter IsEvent IsParameter DontCountHits WithHash HitColor
LocalEventTime Age Sex Income Interests Robotness RemoteIP WindowName OpenerName HistoryLength BrowserLanguage BrowserCountry SocialNetwork SocialAction HTTPError
SendTiming DNSTiming ConnectTiming ResponseStartTiming ResponseEndTiming FetchTiming SocialSourceNetworkID SocialSourcePage ParamPrice ParamOrderID ParamCurrency
ParamCurrencyID OpenstatServiceName OpenstatCampaignID OpenstatAdID OpenstatSourceID UTMSource UTMMedium UTMCampaign UTMContent UTMTerm FromTag HasGCLID RefererHash
URLHash CLID""".split()


def add_options(parser):
    parser.add_argument("--rows", type=int, default=10_000_000, help="page views (default 10000000)")
    parser.add_argument("--seed", type=int, default=1)


def prepare(arguments):
    folder = ensure_folder(f"clickbench_{arguments.rows}_seed{arguments.seed}", lambda partial: fill(partial, arguments.rows, arguments.seed))
    statements = [line.rstrip(";\n") for line in STATEMENTS.read_text().splitlines()]
    return Suite(f"ClickBench, {arguments.rows:,} rows", folder, [query(f"q{number}", sql) for number, sql in enumerate(statements, 1)])


def query(name, sql):
    return Query(name, sql, sql.replace(*CHECKED[name]) if name in CHECKED else None)


def fill(folder, rows, seed):
    connection = duckdb_oracle.connect()
    define_macros(connection, seed)
    # Each level derives from the one inside: rows, then sessions and pages, then users and their attributes, then text.
    connection.execute(f"COPY (SELECT {', '.join(COLUMNS)} FROM ({with_text(with_users(with_sessions(rows), rows))}) AS hits) "
                       f"TO '{folder}/hits.parquet' (FORMAT parquet)")


def define_macros(connection, seed):
    """pick(x, salt, n): from 0 to n - 1, the same for the same x. skewed: small numbers are more frequent, by a power law."""
    connection.execute(f"CREATE MACRO pick(x, salt, n) AS (hash(x, salt, {seed}) % n)::BIGINT")
    connection.execute(f"CREATE MACRO skewed(x, salt, n, exponent) AS floor(n * pow(pick(x, salt, {STEPS}) / {STEPS}, exponent))::BIGINT")
    words = ", ".join(f"'{word}'" for word in WORDS)
    connection.execute(f"CREATE MACRO word(x, salt) AS ([{words}])[1 + skewed(x, salt, {len(WORDS)}, 2)]")
    hosts = ", ".join(f"'{host}'" for host in HOSTS)
    connection.execute(f"CREATE MACRO host(x) AS ([{hosts}])[1 + pick(x, 'host', {len(HOSTS)})] || x || '.ru/'")


def with_sessions(rows):
    """i, place: how far through its site the row is, from 0 to 1; the site's rank by size."""
    position = f"{COUNTERS} * pow(i / {rows}, 3)"
    return f"SELECT i, i // 5 AS session, floor({position})::BIGINT AS site, {position} - floor({position}) AS place FROM range({rows}) AS t(i)"


def with_users(sessions, rows):
    # A third of the pages are the site's own front pages; the rest are spread over as many as a tenth of all rows.
    page = f"CASE WHEN pick(i, 'front', 3) = 0 THEN skewed(i, 'page', 5, 2) ELSE skewed(i, 'page', {max(10, rows // 4)}, 2.5) END"
    return (f"SELECT *, skewed(session, 'user', {max(10, rows // 4)}, 1.8) AS visitor, {page} AS page, {FIRST_COUNTER} + site AS counter, "
            "DATE '2013-07-01' + floor(31 * place)::INTEGER AS day, "
            f"CASE WHEN pick(session, 'search', 8) = 0 THEN 1 + skewed(session, 'phrase', {max(10, rows // 10)}, 2) ELSE 0 END AS phrase FROM ({sessions}) AS sessions")


def with_text(users):
    small = {name: f"pick(i // 3, '{name}', {count})::SMALLINT" for name, count in SMALL.items()}
    wide = {name: f"pick(i // 3, '{name}', {count})::INTEGER" for name, count in WIDE.items()}
    empty = {name: f"CASE WHEN pick(session, '{name}', 200) = 0 THEN '{name}' || pick(session, '{name} value', 500) ELSE '' END" for name in EMPTY}
    columns = {**small, **wide, **empty, **view_columns(), **visitor_columns(), **text_columns()}
    assert set(columns) == set(COLUMNS)
    return "SELECT " + ", ".join(f"{columns[name]} AS {name}" for name in COLUMNS) + f" FROM ({users}) AS users"


def view_columns():
    """Columns that differ from view to view, or from session to session."""
    time = "day + to_seconds(pick(session, 'second', 86000) + i % 5 * 40)"
    return {
        "WatchID": "(hash(i, 'watch') >> 1)::BIGINT", "EventTime": time, "ClientEventTime": f"{time} - to_seconds(pick(i, 'late', 100))",
        "LocalEventTime": f"{time} + to_hours(4)", "EventDate": "day", "CounterID": "counter::INTEGER", "IsRefresh": "(pick(i, 'refresh', 8) = 0)::SMALLINT",
        "AdvEngineID": "CASE WHEN pick(session, 'adv', 150) = 0 THEN 1 + skewed(session, 'engine', 18, 3) ELSE 0 END::SMALLINT",
        "TraficSourceID": "pick(session, 'source', 10)::SMALLINT - 1", "SearchEngineID": "CASE WHEN phrase > 0 THEN 1 + skewed(session, 'se', 90, 6) ELSE 0 END::SMALLINT",
        "IsLink": "(pick(i, 'link', 12) = 0)::SMALLINT", "IsDownload": "(pick(i, 'download', 400) = 0)::SMALLINT",
        "DontCountHits": "(pick(i, 'count', 9) = 0)::SMALLINT", "HitColor": "chr(65 + pick(i, 'color', 5)::INTEGER)", "ParamPrice": "0::BIGINT",
        "ParamCurrency": "CASE WHEN pick(session, 'currency', 50) = 0 THEN 'RUB' ELSE 'NH' || chr(28) END", "FUniqID": "(hash(session, 'uniq') >> 2)::BIGINT",
        "WindowClientWidth": "(700 + pick(session, 'width', 1300))::SMALLINT", "WindowClientHeight": "(400 + pick(session, 'height', 700))::SMALLINT",
        "PageCharset": "CASE WHEN pick(site, 'charset', 4) = 0 THEN 'windows-1251' ELSE 'utf-8' END",
        "RefererHash": "CASE WHEN page % 40 = 3 THEN 3594120000172545465 ELSE (hash(page, 'referer') >> 1)::BIGINT END",
        "URLHash": "CASE WHEN page = 0 THEN 2868770270353813622 ELSE (hash(page, site) >> 1)::BIGINT END"}


def visitor_columns():
    """Columns that a visitor determines."""
    return {
        "UserID": "CASE WHEN visitor = 7 THEN 435090932899640449 ELSE (hash(visitor, 'user') >> 1)::BIGINT END",
        "ClientIP": "(pick(visitor // 2, 'address', 4000000000) - 2000000000)::INTEGER", "RegionID": "(1 + skewed(visitor, 'region', 9000, 5))::INTEGER",
        "OS": "skewed(visitor, 'os', 90, 3)::SMALLINT", "UserAgent": "skewed(visitor, 'agent', 80, 3)::SMALLINT",
        "UserAgentMajor": "skewed(visitor, 'major', 60, 2)::SMALLINT", "UserAgentMinor": "'D' || chr(65 + pick(visitor, 'minor', 20)::INTEGER)",
        "ResolutionWidth": "([1366, 1280, 1920, 1024, 1600, 1440, 320, 0])[1 + skewed(visitor, 'resolution', 8, 2)]::SMALLINT",
        "ResolutionHeight": "([768, 1024, 1080, 800, 900, 600, 480, 0])[1 + skewed(visitor, 'resolution', 8, 2)]::SMALLINT",
        "ResolutionDepth": "([24, 32, 16])[1 + pick(visitor, 'depth', 3)]::SMALLINT", "IsMobile": "(pick(visitor, 'mobile', 18) = 0)::SMALLINT",
        "MobilePhone": "CASE WHEN pick(visitor, 'mobile', 18) = 0 THEN 1 + skewed(visitor, 'phone', 160, 3) ELSE 0 END::SMALLINT",
        "MobilePhoneModel": "CASE WHEN pick(visitor, 'mobile', 18) = 0 THEN 'model ' || skewed(visitor, 'phone', 160, 3) ELSE '' END",
        "BrowserLanguage": "CASE WHEN pick(visitor, 'language', 9) = 0 THEN 'en' ELSE 'ru' END",
        "BrowserCountry": "CASE WHEN pick(visitor, 'language', 9) = 0 THEN 'US' ELSE 'RU' END"}


def text_columns():
    """URL, title and search phrase; a few of them contain what queries look for."""
    google = "page % 6000 = 11"
    return {
        "URL": f"CASE WHEN {google} THEN 'http://www.google.ru/search?q=' || page WHEN page > 4 AND page % 50 = 9 THEN '' ELSE host(site) || 'catalog/' || "
               "hex(hash(page, 'path'))::VARCHAR || '/item.html?page=' || page || '&view=' || pick(page, 'view', 1000) END",
        "Referer": f"CASE WHEN phrase > 0 THEN 'http://yandex.ru/yandsearch?text=' || phrase WHEN {google} THEN 'http://google.com/' || page "
                   "WHEN pick(i, 'direct', 5) = 0 THEN '' ELSE host(skewed(session, 'from', 3000, 4)) || 'index/' || hex(hash(page, 'referer'))::VARCHAR END",
        "Title": f"CASE WHEN {google} THEN 'Google поиск ' ELSE '' END || word(page, 't1') || ' ' || word(page, 't2') || ' и ' || word(page, 't3') || ' - ' || "
                 "word(site, 't4') || ' ' || word(site, 't5') || ' №' || page // 2",
        "SearchPhrase": "CASE WHEN phrase = 0 THEN '' ELSE word(phrase, 's1') || ' ' || word(phrase, 's2') || ' ' || word(phrase, 's3') || ' ' || phrase // 3 END"}
