"""Server of django-oauth-toolkit with the same users and clients, for comparison: `django_oauth_server.py FOLDER ACCOUNTS`.

ACCOUNTS is a JSON object: users, their password, and clients with id, secret and grant type. Prints its port when it is ready.
"""

import json
import os
import pathlib
import socketserver
import sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import include, path

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
settings.configure(
    SECRET_KEY="unused", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(pathlib.Path(sys.argv[1]) / "toolkit.db"), "OPTIONS": {"timeout": 30}}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    # A cheap hash: its cost is not compared.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    OAUTH2_PROVIDER={"SCOPES": {"read": "read", "write": "write"}, "DEFAULT_SCOPES": ["read", "write"], "ROTATE_REFRESH_TOKEN": True, "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0, "REFRESH_TOKEN_REUSE_PROTECTION": True},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", LOGGING_CONFIG=None,
)
django.setup()
urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


class ThreadingServer(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


def populate():
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    accounts = json.loads(sys.argv[2])
    for login in accounts["users"]:
        User.objects.create_user(login, password=accounts["password"])
    for client, secret, grant in accounts["clients"]:
        Application.objects.create(name=client, client_id=client, client_secret=secret, client_type="confidential", authorization_grant_type=grant)


populate()
server = make_server("127.0.0.1", 0, get_wsgi_application(), ThreadingServer, QuietHandler)
print(server.server_port, flush=True)
server.serve_forever()
